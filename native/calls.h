// Calls that Python makes through a function pointer of ours: the table of patched places.
#ifndef INSPECTOR_CALLS_H
#define INSPECTOR_CALLS_H

#include "native.h"

// How a place is called: which of its words are objects.
typedef enum {
    CALL_VARARGS,    // self, tuple, dict or garbage
    CALL_KEYWORDS,   // self, tuple, dict or NULL
    CALL_FASTCALL,   // self, items, count
    CALL_FAST_NAMES, // self, items, count, names or NULL
    CALL_METHOD,     // self, class, items, count, names or NULL
    CALL_NOARGS,     // self
    CALL_O,          // self, argument
    CALL_VECTOR,     // callable, items, count and a flag, names or NULL
    CALL_UNARY,      // object
    CALL_BUFFER,     // exporter, Py_buffer *, flags; an int
    CALL_INDEXED,    // object, Py_ssize_t
    CALL_DEALLOC,    // object, which may be gone afterwards; no result
    // The ledger's only, from here on:
    CALL_ASSIGN, // object, key, value or NULL; a status
    CALL_INIT,   // object, tuple, dict or NULL; a status
    CALL_NEXT,   // object; NULL without an exception ends an iteration
} call_convention;

// How many items of a CALL_VECTOR are positional. CPython keeps a flag in the topmost bit, and functions of
// one library that call each other may keep theirs below it (nanobind 3.1): no call has 2**31 arguments.
static inline Py_ssize_t calls_positional(uintptr_t counted) { return (Py_ssize_t)(counted & INT32_MAX); }

enum { CALLS_MAX = 16384 };
enum { CALLS_FULL = -1, CALLS_LOCKED = -2, CALLS_UNSEEN = -3 };

// Puts a thunk of ours in the place and keeps what was there. Its number, or CALLS_FULL (no thunk is left) or
// CALLS_LOCKED (its page cannot be written). A place that is armed already keeps its number.
int calls_arm(uintptr_t *place, int kind, call_convention convention, PyObject *owner /* borrowed: kept */);
// The same for a place that is empty: `instead` does what CPython does where there is no pointer.
int calls_arm_empty(uintptr_t *place, int kind, call_convention convention, uintptr_t instead,
                    PyObject *owner /* borrowed: kept */);
// What a thunk of ours stands for: the pointer it replaced; 0 for a pointer that is none of ours.
uintptr_t calls_original(uintptr_t pointer);
// Whether the thunk in a place was put there by calls_arm, and not by somebody who copied it.
int calls_is_armed(const uintptr_t *place);
// Writes a pointer into memory that may be read-only; its protection is put back. 0, or -1.
int calls_store(uintptr_t *place, uintptr_t value);
// Before a batch of stores: what was known of the protection of pages may no longer hold.
void calls_forget_pages(void);

#endif
