// Where the running thread's Python code is, and whether the thread holds the GIL.
#ifndef INSPECTOR_RUNNING_H
#define INSPECTOR_RUNNING_H

#include "module/native.h"

// Lives as long as the process runs Python; NULL before the first running_is_ours.
extern PyInterpreterState *running_main __attribute__((visibility("hidden"))); // borrowed
int running_is_ours(void); // whether this thread runs in the main interpreter

typedef struct {
    uint32_t code; // 0: not known
    int32_t lasti;
    int is_ours;
    int no_gil; // this thread does not hold it
} running_place;
running_place running_where(void);
running_place running_where_held(void); // the same, for who knows that it holds the GIL
// Frames of the code of `file` are no place from now on. Needs the GIL.
void running_pass_over(PyObject *file /* borrowed */);
int running_has_gil(void);

// A moment, and whether since then neither a Python function was called nor another thread had the GIL. A
// mark stands where the next frame would begin, in memory that nobody uses.
typedef struct {
    PyThreadState *thread; // compared only
    PyObject **mark;       // NULL: there was no room for one
    unsigned long switches;
} running_moment;
running_moment running_now(void); // needs the GIL
int running_was_alone(const running_moment *since);

#endif
