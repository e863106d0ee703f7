// Calls that Python makes through a function pointer of ours: the table of patched places.
#ifndef INSPECTOR_CALLS_H
#define INSPECTOR_CALLS_H

#include "trace/record/convention.h"

enum { CALLS_MAX = 16384 };
enum { CALLS_FULL = -1, CALLS_LOCKED = -2, CALLS_UNSEEN = -3 };

// Puts a trampoline of ours in the place and keeps what was there. Its number, or CALLS_FULL (no trampoline
// is left) or CALLS_LOCKED (its page cannot be written). A place that is armed already keeps its number.
int calls_arm(uintptr_t *place, int kind, call_convention convention, PyObject *owner /* borrowed: kept */);
// The same for a place that is empty: `instead` does what CPython does where there is no pointer.
int calls_arm_empty(uintptr_t *place, int kind, call_convention convention, uintptr_t instead,
                    PyObject *owner /* borrowed: kept */);
// What a trampoline of ours stands for: the pointer it replaced; 0 for a pointer that is none of ours.
uintptr_t calls_original(uintptr_t pointer);
// Whether the trampoline in a place was put there by calls_arm, and not by somebody who copied it.
int calls_is_armed(const uintptr_t *place);
// Writes a pointer into memory that may be read-only; its protection is put back. 0, or -1.
int calls_store(uintptr_t *place, uintptr_t value);
// Before a batch of stores: what was known of the protection of pages may no longer hold.
void calls_forget_pages(void);

// A call from Python through a patched pointer, as who watches calls is given it.
typedef uintptr_t (*calls_target)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
typedef struct {
    calls_target original;
    uint32_t number;
    call_convention convention;
} calls_called;
// Makes the call in place of who was called, and sees its arguments and its result. NULL: nobody watches.
extern uintptr_t (*calls_watcher)(const calls_called *called, const uintptr_t words[5])
    __attribute__((visibility("hidden")));

#endif
