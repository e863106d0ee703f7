// The hooks: which one belongs to a row of capi.def, and what the files of the hooks offer each other.
#ifndef INSPECTOR_HOOKS_H
#define INSPECTOR_HOOKS_H

#include "trace/capi/hook_records.h"

#include <stdarg.h>

// The hook of a row in a grade; NULL where that grade notes nothing of it.
void *capi_hook(uint16_t row, got_grade grade);
// Whether grade record counts its calls, and deep alone records them: no value crosses, or it has no row.
int capi_is_counted(uint16_t row);

// trace/capi/array_hooks.c: what a function of NumPy's did with bytes; `value` is the record's, `result` what
// it returned.
void hook_array(const hook_call *call, uint16_t row, PyObject *object /* borrowed */, uint64_t value,
                const PyObject *const *result /* borrowed; of another type where no array */);

// trace/capi/formats.c: each value of a variadic call as a continuation, read by the call's format from a
// copy of its list.
typedef struct {
    const hook_call *call; // borrowed
    va_list values;        // a copy of the call's own: ended by the hook
    uint32_t number;       // of the next value
    int deep;              // with the text of strings
    uint32_t given;        // parse: so many were given by position; the others only as far as `optional` says
    int named;             // parse: some were given by name
    PyObject *const *items; // borrowed; parse: those given by position
} format_walk;
void format_walk_parse(format_walk *walk, const char *format); // PyArg_ParseTuple: what was stored
void format_walk_build(format_walk *walk, const char *format); // Py_BuildValue: what was given
void format_walk_print(format_walk *walk, const char *format); // PyUnicode_FromFormat: what was given

// trace/capi/variadic_hooks.c: the hooks written by hand; both grades.
void *hooks_va_find(uint16_t row, got_grade grade);

#endif
