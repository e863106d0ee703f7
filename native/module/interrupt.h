// Ctrl-C during a walk that holds the GIL and borrowed pointers.
//
// Running a signal's handler in the middle would run Python code, and what is borrowed could go. So the walk
// only asks whether the signal came, and ends; the handler runs when everything is given back.
#ifndef INSPECTOR_INTERRUPT_H
#define INSPECTOR_INTERRUPT_H

#include "module/native.h"

#define INTERRUPT_STEPS 0x8000u // objects between two questions: a few milliseconds

typedef struct {
    unsigned steps;
    int seen;
} interrupt_watch;

// walk_progress.c: says how many objects a walk has looked at, where somebody listens.
void walk_progress_tell(unsigned objects);

// Asked now: 1 from the moment a SIGINT waits.
static inline int interrupt_ask(interrupt_watch *watch) {
    if (!watch->seen && PyOS_InterruptOccurred()) {
        PyErr_SetInterrupt(); // asking has taken the signal
        watch->seen = 1;
    }
    return watch->seen;
}

// One step of a walk; tells how far it is.
static inline int interrupt_step(interrupt_watch *watch) {
    if (++watch->steps % INTERRUPT_STEPS) {
        return watch->seen;
    }
    walk_progress_tell(watch->steps);
    return interrupt_ask(watch);
}

// After a walk that ended early: KeyboardInterrupt, or what the handler raises; InterruptedError where it
// raised nothing; MemoryError where no signal came. Always sets an exception.
static inline void interrupt_raise(const interrupt_watch *watch) {
    if (!watch->seen) {
        PyErr_NoMemory();
    } else if (PyErr_CheckSignals() == 0) {
        PyErr_SetString(PyExc_InterruptedError, "the walk was stopped");
    }
}

#endif
