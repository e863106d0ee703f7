// Where the C frames of the evaluator of Python code lie on this thread's stack.
//
// What the evaluator owns lies in Python's own frames, which a walk visits; its C frame has copies, and words
// that earlier calls left in its gaps: they hold nothing.
//
// An interpreter that runs each instruction as a function of its own (tail calls) has no such frame: then no
// word of the stack is left out. Source: _PyEval_EvalFrameDefault in Python/ceval.c.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/lost/lost.h"
#include <unwind.h>

typedef struct {
    lost_walk *walk;
    uintptr_t below; // where the evaluator's frame begins; 0 outside one
} evaluator_walk;

static _Unwind_Reason_Code step(struct _Unwind_Context *frame, void *argument) {
    evaluator_walk *e = argument;
    lost_walk *w = e->walk;
    uintptr_t at = _Unwind_GetIP(frame), stack = _Unwind_GetCFA(frame); // the frame begins at `stack`
    if (e->below) {
        w->evaluators[w->evaluator_count++] = (scan_range){e->below, stack};
        e->below = 0;
    }
    if (!at || w->evaluator_count == LOST_EVALUATORS_MAX) {
        return _URC_END_OF_STACK;
    }
    if (_Unwind_FindEnclosingFunction((void *)(at - 1)) == (void *)_PyEval_EvalFrameDefault) {
        e->below = stack;
    }
    return _URC_NO_REASON;
}

void lost_find_evaluators(lost_walk *w) {
    evaluator_walk e = {.walk = w};
    _Unwind_Backtrace(step, &e);
}
