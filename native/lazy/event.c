// The cause of a materialization: the calling line, taken from the Python stack.
//
// An event is a tuple (kind, cause, code, instruction, line, cell, bytes, ns). `cause` is a name that
// __array_function__ and similar hooks know ("np.sort"), or None. Then the source line at `instruction` of
// `code` is the cause; it is read only for display. `cell` is the number of the running IPython cell, or -1:
// the length of the history list `In` in the user's namespace. Frames of inspector.lazy are skipped.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"

// Whether the globals of a frame belong to inspector.lazy.
static int is_ours(PyObject *globals) {
    PyObject *name = PyDict_GetItemString(globals, "__name__"); // borrowed
    const char *text = name && PyUnicode_CheckExact(name) ? PyUnicode_AsUTF8(name) : NULL;
    PyErr_Clear();
    return text && strncmp(text, "inspector.lazy", strlen("inspector.lazy")) == 0;
}

static Py_ssize_t cell_of(PyObject *globals) {
    PyObject *history = PyDict_GetItemString(globals, "In"); // borrowed
    int ipython = history && PyList_CheckExact(history) && PyDict_GetItemString(globals, "get_ipython");
    return ipython ? PyList_GET_SIZE(history) - 1 : -1;
}

typedef struct {
    PyObject *code; // owned: of the caller's frame, or NULL
    int instruction, line;
    Py_ssize_t cell;
} lazy_caller;

static void caller_find(lazy_caller *caller) {
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get()); // new
    while (frame) {
        _owned_ PyObject *globals = PyFrame_GetGlobals(frame);
        if (!caller->code && !is_ours(globals)) {
            caller->code = (PyObject *)PyFrame_GetCode(frame);
            caller->instruction = PyFrame_GetLasti(frame);
            caller->line = PyFrame_GetLineNumber(frame);
        }
        caller->cell = cell_of(globals);
        PyFrameObject *back = caller->cell < 0 ? PyFrame_GetBack(frame) : NULL;
        Py_SETREF(frame, back);
    }
}

static PyObject *listener; // owned: called with (type, event) at a materialization; or NULL

// A failing listener must not make the vector fail.
static void listener_call(LazyVector *vector, const char *kind, PyObject *event) {
    if (!listener || strcmp(kind, "materialize") != 0) {
        return;
    }
    _owned_ PyObject *called = Py_NewRef(listener); // the call may replace it
    _owned_ PyObject *row = PyTuple_Pack(2, (PyObject *)Py_TYPE(vector), event);
    _owned_ PyObject *answer = row ? PyObject_CallOneArg(called, row) : NULL;
    if (!answer) {
        PyErr_WriteUnraisable(called);
    }
}

PyObject *lazy_tell(PyObject *module, PyObject *callback) {
    Py_XSETREF(listener, callback == Py_None ? NULL : Py_NewRef(callback));
    Py_RETURN_NONE;
}

int lazy_event(LazyVector *vector, const char *kind, PyObject *cause, Py_ssize_t bytes, long long ns) {
    lazy_caller caller = {NULL, -1, 0, -1};
    caller_find(&caller);
    _owned_ PyObject *code = caller.code ? caller.code : Py_NewRef(Py_None);
    _owned_ PyObject *event = Py_BuildValue("(sOOiinnL)", kind, cause ? cause : Py_None, code,
                                            caller.instruction, caller.line, caller.cell, bytes, ns);
    if (!vector->events) {
        vector->events = PyList_New(0);
    }
    if (!event || !vector->events || PyList_Append(vector->events, event) < 0) {
        return -1;
    }
    listener_call(vector, kind, event);
    if (PyList_GET_SIZE(vector->events) > LAZY_EVENTS_MAX) {
        vector->dropped++;
        return PyList_SetSlice(vector->events, 0, 1, NULL);
    }
    return 0;
}
