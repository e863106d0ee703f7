// The native frames that a conversion came through, for traces that request them.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_STACKS_H
#define INSPECTOR_STACKS_H

#include "memory/memory.h"

extern int stacks_open __attribute__((visibility("hidden"))); // 1: frames are recorded

void stacks_record(uint32_t slot, uint8_t depth);
int stacks_prepare(void); // empties the table; 0, or -1 with an exception set
// The mapping of the code that holds an address; 0, or -1 with MemoryError set.
int stacks_text_of(const void *address, scan_range *ret);
uint32_t stacks_take(void); // the number of the current native stack; 0: none, or no room
// A new tuple of return addresses, innermost first; empty for 0.
PyObject *stacks_frames_of(uint32_t number);

// Writes a continuation of the record that was just committed.
static inline void stacks_note(uint32_t slot, uint8_t depth) {
    if (__builtin_expect(stacks_open, 0)) {
        stacks_record(slot, depth);
    }
}

#endif
