// How Python calls a function pointer: which of its words are objects.
#ifndef INSPECTOR_CONVENTION_H
#define INSPECTOR_CONVENTION_H

#include "module/native.h"

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

// Whether the counts of its arguments can be compared before and after the call.
static inline int call_counts(call_convention convention) {
    return convention != CALL_BUFFER && convention != CALL_DEALLOC;
}

#endif
