// The references that a call itself holds: its arguments, while they still lie on the caller's stack.
//
// When one Python function calls another, the interpreter moves the arguments into the callee's variables:
// a callee that deletes its variable has given the reference back. When C code stands between (a call by way
// of functools.partial, of a C wrapper), the arguments are COPIED into the callee, and the caller's
// evaluation stack keeps its own references until the C code returns. Those are nobody's: they vanish with
// the call, so a true count leaves them out.
//
// Whether C code stands between is told by the callee's frame (compat_frame_from_c). Which slots of the
// caller's stack hold the arguments is worked out in Python from the caller's bytecode (call_site.py), since
// the interpreter keeps the height of the stack in a register while C code runs. Here the slots are only
// compared with the object, inside the frame's own bounds. References that the C code itself holds in its own
// variables (map does) cannot be seen. From 3.14 on a slot may only borrow what a variable owns; such a one
// is no reference, and not counted.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "objects/objects.h"

// The running Python frame `level` calls above the one that called into C; NULL beyond the last.
static _PyInterpreterFrame *call_frame(int level) {
    _PyInterpreterFrame *frame = compat_thread_frame(PyThreadState_Get());
    for (; frame; frame = frame->previous) {
        if (compat_frame_code(frame) && level-- == 0) {
            return frame;
        }
    }
    return NULL;
}

static int call_from_c(int level) {
    _PyInterpreterFrame *frame = call_frame(level);
    return frame && compat_frame_from_c(frame);
}

static long call_count(PyObject *object /* borrowed */, int level, int first, int stop) {
    _PyInterpreterFrame *frame = call_frame(level);
    if (!frame) {
        return 0;
    }
    PyCodeObject *code = compat_frame_code(frame); // borrowed
    PyObject **slots = (PyObject **)frame->localsplus + code->co_nlocalsplus;
    long count = 0;
    for (int i = first < 0 ? 0 : first; i < stop && i < code->co_stacksize; i++) {
        count += compat_slot(slots[i]) == object;
    }
    return count;
}

static PyObject *call_entered_from_c(PyObject *module /* borrowed */, PyObject *args /* borrowed */) {
    int level;
    return PyArg_ParseTuple(args, "i:entered_from_c", &level) ? PyBool_FromLong(call_from_c(level)) : NULL;
}

static PyObject *call_stack_slots(PyObject *module /* borrowed */, PyObject *args /* borrowed */) {
    PyObject *subject; // borrowed
    int level, first, stop;
    if (!PyArg_ParseTuple(args, "Oiii:stack_slots", &subject, &level, &first, &stop)) {
        return NULL;
    }
    PyObject *object = subject_object(module, subject); // borrowed
    return object ? PyLong_FromLong(call_count(object, level, first, stop)) : NULL;
}

PART_FUNCTIONS(call, {"entered_from_c", call_entered_from_c, METH_VARARGS, NULL},
               {"stack_slots", call_stack_slots, METH_VARARGS, NULL})
