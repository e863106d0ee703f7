// Bytes of objects whose struct this extension does not know: an adapter is asked, in Python.
#ifndef INSPECTOR_REPORTED_SPANS_H
#define INSPECTOR_REPORTED_SPANS_H

#include "objects/spans.h"

enum { REPORTED_SPANS_MAX = 8 };

// The spans of an object behind the first so many: new rows, or NULL. Without an exception set.
PyObject *reported_further(PyObject *object /* borrowed */, int after);
// Row number `at` of those: 1, or 0 where there is none that can be read.
int reported_further_span(PyObject *rows /* borrowed */, int at, data_span *ret);
// How many spans an adapter tells, at most REPORTED_SPANS_MAX; 0 for a type that none knows. With the GIL.
int reported_spans(PyObject *object /* borrowed */, uint32_t type /* id in INTERNED */, data_span *ret);
// Whether objects of the type keep their elements for life, so that a call's arguments may be asked about
// later.
int reported_is_steady(uint32_t type);
// Whether both ends of memory can be read: once a trace for each span that could.
int reported_is_there(const data_span *span);

#endif
