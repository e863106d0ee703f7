// The native frames that a conversion came through, for traces that ask for them.
#ifndef INSPECTOR_STACKS_H
#define INSPECTOR_STACKS_H

#include <stdint.h>

extern int stacks_open __attribute__((visibility("hidden"))); // frames are recorded

void stacks_record(uint32_t slot, uint8_t depth);

// A continuation of the record that was just committed.
static inline void stacks_note(uint32_t slot, uint8_t depth) {
    if (__builtin_expect(stacks_open, 0)) {
        stacks_record(slot, depth);
    }
}

#endif
