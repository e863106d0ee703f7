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
    CALL_ASSIGN,   // object, key, value or NULL; a status
    CALL_INIT,     // object, tuple, dict or NULL; a status
    CALL_NEXT,     // object; NULL without an exception ends an iteration
    CALL_SET,      // object, argument or NULL; a status
    CALL_PUT,      // object, Py_ssize_t, value or NULL; a status
    CALL_SEND,     // object, value, where the result goes; a status
    CALL_ASKED,    // object; a truth, or -1
    CALL_LENGTH,   // object; a Py_ssize_t, or -1
    CALL_OPERATOR, // left, right; while it runs their types hold the function itself (trace/arm/calls.c)
} call_convention;

// The positional items of a CALL_VECTOR. CPython keeps a flag in the top bit, and functions of one library
// that call each other may keep flags below it (nanobind 3.1): no call has 2**31 arguments.
static inline Py_ssize_t calls_positional(uintptr_t counted) { return (Py_ssize_t)(counted & INT32_MAX); }

// Whether the result is a number that tells whether the call failed, and no object.
static inline int call_returns_status(call_convention convention) {
    return convention == CALL_BUFFER || convention == CALL_ASSIGN || convention == CALL_INIT ||
           (convention >= CALL_SET && convention <= CALL_LENGTH);
}

// Whether such a result says that it failed.
static inline int call_has_failed(call_convention convention, uintptr_t result) {
    return convention == CALL_LENGTH ? (Py_ssize_t)result == -1 : (int)result < 0;
}

// The object to which the caller now has a reference: the result, or where it was stored. NULL: none.
static inline PyObject *call_handed(call_convention convention, const uintptr_t words[5], uintptr_t result) {
    if (convention == CALL_BUFFER) {
        const Py_buffer *view = (const Py_buffer *)words[1];
        return view && !call_has_failed(convention, result) ? view->obj : NULL;
    }
    if (convention == CALL_SEND) {
        return *(PyObject **)words[2];
    }
    return call_returns_status(convention) || convention == CALL_DEALLOC ? NULL : (PyObject *)result;
}

// Whether the refcounts of its arguments can be compared before and after the call.
static inline int call_counts(call_convention convention) { return convention != CALL_DEALLOC; }

#endif
