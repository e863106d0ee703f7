// The variables of a frame that own an object, on a free-threaded CPython.
//
// A variable may hold an object without a reference: its word is tagged (internal/pycore_stackref.h). The
// frame is one of the calling thread, which stands in this function: nothing else changes its words.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define Py_BUILD_CORE 1
#define Py_BUILD_CORE_MODULE 1
#include "module/native.h"

#include <internal/pycore_frame.h>
#include <internal/pycore_interpframe_structs.h>

static int is_of_this_thread(PyFrameObject *frame) {
    for (_PyInterpreterFrame *at = PyThreadState_Get()->current_frame; at; at = at->previous) {
        if (at == frame->f_frame) {
            return 1;
        }
    }
    return 0;
}

static PyObject *frames_owning(PyObject *module, PyObject *args) {
    PyObject *frame, *target; // borrowed
    if (!PyArg_ParseTuple(args, "O!O:locals_owning", &PyFrame_Type, &frame, &target)) {
        return NULL;
    }
    _owned_ PyObject *names = PyList_New(0);
    if (!names || !is_of_this_thread((PyFrameObject *)frame)) {
        return take(names);
    }
    _owned_ PyObject *of_frame = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    const PyCodeObject *code = (PyCodeObject *)of_frame;
    const _PyStackRef *slots = ((PyFrameObject *)frame)->f_frame->localsplus;
    for (int i = 0; i < code->co_nlocalsplus; i++) {
        if (slots[i].bits == (uintptr_t)target && // no tag: it owns
            PyList_Append(names, PyTuple_GET_ITEM(code->co_localsplusnames, i)) < 0) {
            return NULL;
        }
    }
    return take(names);
}

PART_FUNCTIONS(frames, {"locals_owning", frames_owning, METH_VARARGS, NULL})
