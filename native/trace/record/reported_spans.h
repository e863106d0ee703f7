// Bytes of objects whose struct this extension does not know: reported by an adapter, in Python.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_REPORTED_SPANS_H
#define INSPECTOR_REPORTED_SPANS_H

#include "objects/spans.h"

enum { REPORTED_SPANS_MAX = 8 };

// The spans of an object after the first `after`: new list of rows, or NULL. Never sets an exception.
PyObject *reported_further(PyObject *object /* borrowed */, int after);
// Row number `at` of these: 1, or 0 where there is none or it cannot be read.
int reported_further_span(PyObject *rows /* borrowed */, int at, data_span *ret);
// How many spans an adapter reports, up to REPORTED_SPANS_MAX; 0 for an unknown type. Needs the GIL.
int reported_spans(PyObject *object /* borrowed */, uint32_t type /* id in INTERNED */, data_span *ret);
// Whether objects of the type keep their elements for life: the adapter may then be called after the call.
int reported_is_steady(uint32_t type);
// Whether both ends of the span can be read; a positive result is cached for the trace.
int reported_is_there(const data_span *span);

#endif
