// The hooks: which one belongs to a row of capi.def, and what the hooks' files share.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_HOOKS_H
#define INSPECTOR_HOOKS_H

#include "trace/capi/hook_records.h"

#include <stdarg.h>

// The hook of a row in a grade; NULL where the grade records nothing of the row.
void *capi_hook(uint16_t row, got_grade grade);
// Whether grade record only counts its calls (deep records them): it moves no value, or has no row.
int capi_is_counted(uint16_t row);

// trace/capi/array_hooks.c: records what a function of NumPy's did with bytes. `value` is the record's `val`.
void hook_array(const hook_call *call, uint16_t row, PyObject *object /* borrowed */, uint64_t value,
                const PyObject *const *result /* borrowed; not an object where the row makes no array */);

// trace/capi/formats.c: records each value of a variadic call as a continuation, by the call's format.
typedef struct {
    const hook_call *call;  // borrowed
    va_list values;         // a copy of the call's own list; the hook ends it
    uint32_t number;        // of the next value
    int deep;               // record the text of strings too
    uint32_t positional;    // parse: arguments passed by position
    int named;              // parse: some arguments were passed by name
    PyObject *const *items; // borrowed; parse: the arguments passed by position
} format_walk;
void format_walk_parse(format_walk *walk, const char *format); // PyArg_ParseTuple: what was stored
void format_walk_build(format_walk *walk, const char *format); // Py_BuildValue: the arguments
void format_walk_print(format_walk *walk, const char *format); // PyUnicode_FromFormat: the arguments

// trace/capi/variadic_hooks.c: the hand-written hooks of variadic functions, in both grades.
void *hooks_va_find(uint16_t row, got_grade grade);

#endif
