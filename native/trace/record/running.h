// Where the running thread's Python code is, and whether the thread holds the GIL.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_RUNNING_H
#define INSPECTOR_RUNNING_H

#include "module/native.h"

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

#endif
