// Where a record comes from: the running code, spans that an adapter reports; and the journal of names.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_RECORD_H
#define INSPECTOR_RECORD_H

#include "objects/spans.h"

// Where the running thread's Python code is, and whether the thread holds the GIL.
// Stays valid while the process runs Python; NULL before the first running_is_ours.
extern PyInterpreterState *running_main __attribute__((visibility("hidden"))); // borrowed
int running_is_ours(void); // whether this thread runs in the main interpreter

typedef struct {
    uint32_t code; // 0: not known
    int32_t lasti;
    int is_ours;
    int no_gil; // this thread does not hold the GIL
} running_place;
running_place running_where(void);
running_place running_where_held(void); // the same, for callers that hold the GIL
// Skips frames whose code is of `file` from now on. Needs the GIL.
void running_pass_over(PyObject *file /* borrowed */);
int running_has_gil(void);

// A moment; and whether since then no Python function was called and no other thread had the GIL. The mark is
// written where the next frame would begin, in unused memory.
typedef struct {
    PyThreadState *thread; // compared, never dereferenced
    PyObject **mark;       // NULL: there was no room for the mark
    unsigned long switches;
} running_moment;
running_moment running_now(void); // needs the GIL
int running_was_alone(const running_moment *since);

// Bytes of objects whose struct this extension does not know: reported by an adapter, in Python.
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

// A file of what the numbers of a trace mean, written as they are assigned: it outlives a killed process.
// Writes the name of a type or code object, where a journal is kept. Needs the GIL; allocates nothing.
void journal_add(uint32_t id, PyObject *object /* borrowed */);
// Writes the frames of a native stack that got its number now. Needs no GIL.
void journal_add_stack(uint32_t number, uint32_t count, const uintptr_t *frames);

#endif
