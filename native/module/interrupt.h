// Ctrl-C during a walk that holds the GIL and borrowed pointers.
//
// Running a signal handler in the middle of a walk would run Python code, which could free borrowed objects.
// So the walk only checks whether SIGINT came, and ends. The handler runs after the walk.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_INTERRUPT_H
#define INSPECTOR_INTERRUPT_H

#include "module/native.h"

#define INTERRUPT_STEPS 0x8000u // objects between two checks: a few milliseconds

typedef struct {
    unsigned steps;
    int seen;
} interrupt_watch;

// module/walk_progress.c: reports how many objects a walk has visited, if progress is switched on.
void walk_progress_tell(unsigned objects);

// Checks for a pending SIGINT: 1 once one was seen, else 0.
static inline int interrupt_ask(interrupt_watch *watch) {
    if (!watch->seen && PyOS_InterruptOccurred()) {
        PyErr_SetInterrupt(); // the check has cleared the signal: set it again
        watch->seen = 1;
    }
    return watch->seen;
}

// Counts one object of a walk; now and then reports progress and checks for SIGINT. 1: end the walk.
static inline int interrupt_step(interrupt_watch *watch) {
    if (++watch->steps % INTERRUPT_STEPS) {
        return watch->seen;
    }
    walk_progress_tell(watch->steps);
    return interrupt_ask(watch);
}

// Sets the exception of a walk that ended early: what the signal handler raises (KeyboardInterrupt),
// InterruptedError where it raises nothing, MemoryError where no signal came.
static inline void interrupt_raise(const interrupt_watch *watch) {
    if (!watch->seen) {
        PyErr_NoMemory();
    } else if (PyErr_CheckSignals() == 0) {
        PyErr_SetString(PyExc_InterruptedError, "the walk was stopped");
    }
}

#endif
