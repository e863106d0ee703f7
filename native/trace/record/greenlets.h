// Which greenlet runs: each has its own nesting of hooked calls (greenlets.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_GREENLETS_H
#define INSPECTOR_GREENLETS_H

#include <stdint.h>

// Whether the library greenlet is loaded. It stays set: greenlet cannot be unloaded.
extern int greenlets_open __attribute__((visibility("hidden")));

// Makes ring_here that of the greenlet which now runs. Needs no GIL; call it only while greenlets_open.
void greenlets_settle_slow(void);
static inline void greenlets_settle(void) {
    if (__builtin_expect(greenlets_open, 0)) {
        greenlets_settle_slow();
    }
}

// The greenlet that ran when the thread settled last; 0: not known.
uint32_t greenlets_number(void);

#endif
