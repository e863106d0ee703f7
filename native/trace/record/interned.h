// Small numbers for types and code objects, so that a 64-byte record can refer to them.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_INTERNED_H
#define INSPECTOR_INTERNED_H

#include "module/native.h"

typedef struct {
    PyObject *object; // borrowed from the table, which owns it
    uint32_t id;
} interned_one;

enum { INTERNED_RECENT = 64 };
// A cache by address: most calls refer to the same few objects again.
extern interned_one interned_recent[INTERNED_RECENT] __attribute__((visibility("hidden")));
extern uint32_t interned_generation
    __attribute__((visibility("hidden"))); // advances when the table is cleared

uint32_t interned_id_slow(PyObject *object /* borrowed; kept */);

// The number of `object`, the same for the whole trace; 0 where the table is full. The table owns a reference
// to it until the trace is over, so that its name can be read then. Needs the GIL; allocates nothing.
static inline uint32_t interned_id(PyObject *object /* borrowed; kept */) {
    const interned_one *recent = &interned_recent[((uintptr_t)object >> 4) % INTERNED_RECENT];
    return recent->object == object ? recent->id : interned_id_slow(object);
}

#endif
