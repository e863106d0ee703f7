// Bytes of objects whose struct this extension does not know: an adapter is asked, in Python.
#ifndef INSPECTOR_ASKED_H
#define INSPECTOR_ASKED_H

#include "spans.h"

enum { ASKED_SPANS_MAX = 4 };

// How many spans an adapter tells, at most ASKED_SPANS_MAX; 0 for a type that none knows. With the GIL.
int asked_spans(PyObject *object /* borrowed */, uint32_t type /* id in INTERNED */, data_span *ret);
// Whether objects of the type keep their elements for life, so that a call's arguments may be asked about
// later.
int asked_is_steady(uint32_t type);
// Whether both ends of memory can be read: once a trace for each span that could.
int asked_is_there(const data_span *span);

#endif
