// Calling conventions of function pointers that Python calls: which of the words are objects.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CONVENTION_H
#define INSPECTOR_CONVENTION_H

#include "module/native.h"

// The words of a call, in order.
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
    CALL_DEALLOC,    // object, which may be freed afterwards; no result
    // From here on only the ledger of references arms places:
    CALL_ASSIGN, // object, key, value or NULL; a status
    CALL_INIT,   // object, tuple, dict or NULL; a status
    CALL_NEXT,   // object; NULL without an exception ends an iteration
    CALL_SET,    // object, argument or NULL; a status
} call_convention;

// The positional items of a CALL_VECTOR. CPython keeps a flag in the top bit, and functions of one library
// that call each other may keep flags below it (nanobind 3.1): no call has 2**31 arguments.
static inline Py_ssize_t calls_positional(uintptr_t counted) { return (Py_ssize_t)(counted & INT32_MAX); }

// Whether the refcounts of its arguments can be compared before and after the call.
static inline int call_counts(call_convention convention) {
    return convention != CALL_BUFFER && convention != CALL_DEALLOC;
}

#endif
