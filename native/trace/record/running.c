// Where the running thread's Python code is, for deep records: two loads per frame, no calls, no allocation.
//
// A thread of another interpreter gets nothing: we may take no references to its objects (PEP 684).
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "trace/record/greenlets.h"
#include "trace/record/interned.h"
#include "trace/record/record.h"

#include <internal/pycore_runtime.h>

PyInterpreterState *running_main;

static int is_main(const PyThreadState *thread) {
    if (!running_main) {
        running_main = PyInterpreterState_Main();
    }
    return thread && thread->interp == running_main;
}

int running_is_ours(void) { return is_main(compat_thread_unchecked()); }

// One thread may have states in two interpreters; before 3.12 the current state is that of the GIL's holder.
int running_has_gil(void) {
    PyThreadState *own = PyGILState_GetThisThreadState(), *running = compat_thread_unchecked();
    return own && running && (own == running || own->thread_id == running->thread_id);
}

static PyObject *passed_over; // owned; all code of a file shares one string object

void running_pass_over(PyObject *file) { Py_XSETREF(passed_over, Py_NewRef(file)); }

running_place running_where_held(void) {
    PyThreadState *thread = compat_thread_unchecked();
    if (!is_main(thread)) {
        return (running_place){0};
    }
    for (_PyInterpreterFrame *frame = compat_thread_frame(thread); frame; frame = frame->previous) {
        PyCodeObject *code = compat_frame_code(frame); // borrowed
        if (code && code->co_filename != passed_over) {
            char *instruction = (char *)compat_frame_instruction(frame);
            return (running_place){interned_id((PyObject *)code),
                                   (int32_t)(instruction - (char *)_PyCode_CODE(code)), .is_ours = 1};
        }
    }
    return (running_place){.is_ours = 1};
}

running_place running_where(void) {
    return running_has_gil() ? running_where_held() : (running_place){.no_gil = 1};
}

// A new frame begins at the top of the thread's frame stack. Exceptions: a generator's frame lies elsewhere;
// a frame that does not fit begins a new chunk of the stack.
enum { FRAME_WORDS = 128 };
static char unused; // its address marks the place: it is no object

running_moment running_now(void) {
    PyThreadState *thread = compat_thread_unchecked();
    if (!is_main(thread) || greenlets_open) { // another greenlet may run meanwhile, and leave no sign
        return (running_moment){0};
    }
    PyObject **top = thread->datastack_top;
    PyObject **mark = top && thread->datastack_limit - top > FRAME_WORDS ? top : NULL;
    if (mark) {
        *mark = (PyObject *)(void *)&unused;
    }
    return (running_moment){thread, mark, compat_gil_switches(thread->interp)};
}

int running_was_alone(const running_moment *since) {
    PyThreadState *thread = compat_thread_unchecked();
    return since->mark && thread == since->thread && thread->datastack_top == since->mark &&
           *since->mark == (PyObject *)(void *)&unused &&
           compat_gil_switches(thread->interp) == since->switches;
}
