// Who materialized it: the calling line, found on the Python stack while it is still there.
//
// An event is a tuple (kind, cause, code, instruction, line, cell, bytes, ns). `cause` is a name that
// __array_function__ and its like know ("np.sort"), or None; then the source text at `instruction` of `code`
// says it, read only when somebody looks. `cell` is the number of the running IPython cell, or -1: the length
// of the history list `In` that IPython keeps in the user's namespace. Frames of inspector.lazy are passed
// by.
#include "lazy/inside.h"

// Whether a frame's globals are those of our own package.
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

static PyObject *told; // owned: called with (type, event) where a vector materializes; NULL: nobody is told

// Whoever listens may fail: that is no reason for the vector to.
static void listener_tell(LazyVector *vector, const char *kind, PyObject *event) {
    if (!told || strcmp(kind, "materialize") != 0) {
        return;
    }
    _owned_ PyObject *listener = Py_NewRef(told); // it may be taken away meanwhile
    _owned_ PyObject *row = PyTuple_Pack(2, (PyObject *)Py_TYPE(vector), event);
    _owned_ PyObject *answer = row ? PyObject_CallOneArg(listener, row) : NULL;
    if (!answer) {
        PyErr_WriteUnraisable(listener);
    }
}

PyObject *lazy_tell(PyObject *module, PyObject *listener) {
    Py_XSETREF(told, listener == Py_None ? NULL : Py_NewRef(listener));
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
    listener_tell(vector, kind, event);
    if (PyList_GET_SIZE(vector->events) > LAZY_EVENTS_MAX) {
        vector->dropped++;
        return PyList_SetSlice(vector->events, 0, 1, NULL);
    }
    return 0;
}
