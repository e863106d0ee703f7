// Calls a Python callable when the process exits without finalizing Python, where Python's own atexit never
// runs. An embedding host may exit so (reticulate does).
//
// exit(3) runs the handlers of atexit(3) while all libraries are loaded and Python is still alive. They do
// not run on `_exit`, a signal or exec. A forked child does not call it.
// SPDX-License-Identifier: MIT
#include "module/native.h"

#include <unistd.h>

static PyObject *last_call; // owned: until the process exits
static pid_t process;       // 0: nothing is registered with exit(3) yet

static void exits_run(void) {
    if (!last_call || process != getpid() || !Py_IsInitialized()) {
        return;
    }
    PyGILState_STATE before = PyGILState_Ensure();
    _owned_ PyObject *call = last_call;
    last_call = NULL;
    _owned_ PyObject *result = PyObject_CallNoArgs(call);
    if (!result) {
        PyErr_WriteUnraisable(call);
    }
    Py_CLEAR(result);
    Py_CLEAR(call);
    PyGILState_Release(before);
}

static PyObject *at_exit(PyObject *module, PyObject *call) {
    if (!process && atexit(exits_run) != 0) {
        return PyErr_NoMemory();
    }
    process = getpid();
    Py_XSETREF(last_call, call == Py_None ? NULL : Py_NewRef(call));
    Py_RETURN_NONE;
}

static PyObject *stack_height(PyObject *module, PyObject *unused) {
    return PyLong_FromVoidPtr(__builtin_frame_address(0));
}

PART_FUNCTIONS(exits, {"at_exit", at_exit, METH_O, NULL}, {"stack_height", stack_height, METH_NOARGS, NULL})
