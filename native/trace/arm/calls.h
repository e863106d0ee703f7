// Calls that Python makes through a patched function pointer: the table of patched places.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CALLS_H
#define INSPECTOR_CALLS_H

#include "trace/record/convention.h"

enum { CALLS_MAX = 61440 };
enum { CALLS_FULL = -1, CALLS_LOCKED = -2, CALLS_UNSEEN = -3 };

// Puts a trampoline into the place and keeps the previous pointer. Returns the trampoline's number,
// CALLS_FULL (no trampoline left) or CALLS_LOCKED (its page cannot be written). An armed place keeps its
// number.
int calls_arm(uintptr_t *place, int kind, call_convention convention, PyObject *owner /* borrowed; kept */);
// The same for an empty place: `instead` is the function that does what CPython does without a pointer.
int calls_arm_empty(uintptr_t *place, int kind, call_convention convention, uintptr_t instead,
                    PyObject *owner /* borrowed; kept */);
// Whether most trampolines are left for others.
int calls_are_few(void);
// The pointer that a trampoline of ours replaced; 0 for any other pointer.
uintptr_t calls_original(uintptr_t pointer);
// Whether calls_arm put the trampoline into this place; not so for a place that only copied it.
int calls_is_armed(const uintptr_t *place);
// Writes a pointer into memory that may be read-only, and restores the protection. 0, or -1.
int calls_store(uintptr_t *place, uintptr_t value);
// Call it before a batch of stores: the protection of pages may have changed since the last one.
void calls_forget_pages(void);

// A call from Python through a patched pointer, as the watcher gets it.
typedef uintptr_t (*calls_target)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
typedef struct {
    calls_target original;
    uint32_t number;
    call_convention convention;
} calls_called;
// Makes the call in place of the original function, and sees arguments and result; NULL: no watcher.
typedef uintptr_t (*calls_watch)(const calls_called *called, const uintptr_t words[5]);
extern calls_watch calls_watcher __attribute__((visibility("hidden")));
extern int calls_watches_ends __attribute__((visibility("hidden"))); // it sees CALL_DEALLOC too

#endif
