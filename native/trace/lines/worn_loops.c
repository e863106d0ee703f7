// The end of a `for` loop that runs without line events.
//
// In 3.11 the trace function slows each instruction of a frame down, even where the callback wants no more
// events of a loop's lines. So trace/lines/lines.c switches it off in the middle of such a loop, and must
// switch it on where the loop ends: by exhaustion, break, return or an exception. All four drop the iterator
// that FOR_ITER has on top of the frame's stack. An object of ours, put there in its place, passes each item
// on, and its deallocation is the loop's end. It owns the reference that the stack owned.
//
// Left out: frames of generators and coroutines, which can be left in the middle of a loop; `while` loops,
// which have nothing on the stack. No frame's stack is seen by the garbage collector while it runs, so the
// type needs no traversal.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "trace/lines/worn_loops.h"

#if COMPAT_LINES_BY_TRACE
#include <opcode.h>

typedef struct {
    PyObject_HEAD PyObject *iterator; // owned
    _PyInterpreterFrame *frame;       // borrowed: alive as long as this is on its stack
} worn_loop;

static void (*loop_ended)(void);

static void loop_dealloc(PyObject *self /* borrowed */) {
    worn_loop *loop = (worn_loop *)self;
    if (compat_thread_frame(PyThreadState_Get()) == loop->frame) {
        loop_ended();
    }
    Py_CLEAR(loop->iterator);
    PyObject_Free(self);
}

static PyObject *loop_next(PyObject *self /* borrowed */) { // new
    PyObject *iterator = ((worn_loop *)self)->iterator;     // borrowed
    return Py_TYPE(iterator)->tp_iternext(iterator);
}

static PyTypeObject loop_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "inspector._native.worn_loop",
    .tp_doc = PyDoc_STR("Passes on the items of a loop's iterator, and tells where the loop ends."),
    .tp_basicsize = sizeof(worn_loop),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = loop_dealloc,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = loop_next,
};

int worn_loops_prepare(void (*resume)(void)) {
    loop_ended = resume;
    return PyType_Ready(&loop_type);
}

// Whether the frame's next instruction takes the next item of a loop.
static int is_at_loop(const _PyInterpreterFrame *frame) {
    const _Py_CODEUNIT *next = frame->prev_instr;
    while (_Py_OPCODE(*next) == EXTENDED_ARG || _Py_OPCODE(*next) == EXTENDED_ARG_QUICK) {
        next++;
    }
    return _Py_OPCODE(*next) == FOR_ITER;
}

int worn_loops_begin(_PyInterpreterFrame *frame) {
    if (frame->owner == FRAME_OWNED_BY_GENERATOR || !is_at_loop(frame)) {
        return 0;
    }
    PyObject **top = &frame->localsplus[frame->stacktop - 1]; // owned by the frame
    if (Py_IS_TYPE(*top, &loop_type)) {
        return 1;
    }
    worn_loop *loop = PyObject_New(worn_loop, &loop_type);
    if (!loop) {
        PyErr_Clear();
        return 0;
    }
    loop->iterator = *top;
    loop->frame = frame;
    *top = (PyObject *)loop;
    return 1;
}
#endif
