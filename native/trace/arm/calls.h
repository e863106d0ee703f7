// Calls that Python makes through a patched function pointer: the table of patched places.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CALLS_H
#define INSPECTOR_CALLS_H

#include "trace/record/convention.h"

enum { CALLS_MAX = 61440 };
enum { CALLS_FULL = -1, CALLS_LOCKED = -2, CALLS_UNSEEN = -3, CALLS_SHARED = -4 };

// Puts a trampoline into the place and keeps the previous pointer. Returns the trampoline's number,
// CALLS_FULL (no trampoline left) or CALLS_LOCKED (its page cannot be written). An armed place keeps its
// number.
int calls_arm(uintptr_t *place, int kind, call_convention convention, PyObject *owner /* borrowed; kept */);
// The same for an empty place: `instead` is the function that does what CPython does without a pointer.
int calls_arm_empty(uintptr_t *place, int kind, call_convention convention, uintptr_t instead,
                    PyObject *owner /* borrowed; kept */);
// Where a type holds a pointer: offset of the pointer to a table in the type (0: none), offset there.
typedef struct {
    uint16_t table, offset;
} calls_slot;
// The same for a slot whose pointer C code compares with others: types that hold the same function get the
// same trampoline, `of_base` or that of any type with this operator. CALLS_SHARED: it got that of another
// type. CALLS_LOCKED: its page is read-only.
int calls_arm_compared(uintptr_t *place, call_convention convention, calls_slot slot, uintptr_t of_base,
                       PyObject *owner /* borrowed; kept */);
// Whether most trampolines are left for others.
int calls_are_few(void);
// trace/arm/type_slots.c: a slot of the type that leads to such a function and is not hooked; NULL: none.
const char *type_slots_unhooked(PyTypeObject *type /* borrowed */, int (*is_watched)(uintptr_t function));
// The pointer that a trampoline of ours replaced; 0 for any other pointer.
uintptr_t calls_original(uintptr_t pointer);
// Whether calls_arm put the trampoline into this place; not so for a place that only copied it.
int calls_is_armed(const uintptr_t *place);
// Writes a pointer into memory that may be read-only, and restores the protection. 0, or -1.
int calls_store(uintptr_t *place, uintptr_t value);
// Whether the page of a place can be written as it is.
int calls_is_writable(const uintptr_t *place);
// Call it before a batch of stores: the protection of pages may have changed since the last one.
void calls_forget_pages(void);
// The same for a batch that follows another one at once: it forgets only what is not of this moment.
void calls_forget_old_pages(void);

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

// function_hash.c. Before the first function is armed; after all are disarmed.
void function_hash_arm(uintptr_t (*original)(uintptr_t pointer)); // of calls_original's kind
void function_hash_disarm(void);

#endif
