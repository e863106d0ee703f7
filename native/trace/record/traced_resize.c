// ndarray.resize refuses where more references than the caller's lead to the array, since those would see
// it move. In 3.11 a traced call of a method holds one more: a bound method made for the trace function
// (trace_call_function of ceval.c). So the program would raise ValueError only because its lines are told.
// A function of ours takes that one reference out of the count while NumPy's runs.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "trace/record/traced_resize.h"

#if COMPAT_LINES_BY_TRACE
#include <opcode.h>

static PyMethodDef *resize_row; // NumPy's; NULL: not replaced
static PyCFunction resize_own;

// Whether the instruction is `x.resize`, of a name that `names` has.
static int is_resize(const _Py_CODEUNIT *code, Py_ssize_t at, PyObject *names /* borrowed */) {
    Py_ssize_t name = _Py_OPARG(code[at]);
    if (at && _Py_OPCODE(code[at - 1]) == EXTENDED_ARG) {
        name |= _Py_OPARG(code[at - 1]) << 8;
    }
    return _Py_OPCODE(code[at]) == LOAD_METHOD && name < PyTuple_GET_SIZE(names) &&
           !PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, name), "resize");
}

// Whether a line that is told calls a method `resize`. No other call makes a bound method for the trace.
static int is_traced(void) {
    PyThreadState *thread = PyThreadState_Get();
    _PyInterpreterFrame *frame = thread->cframe->use_tracing ? compat_thread_frame(thread) : NULL;
    PyObject *plain = frame ? PyCode_GetCode(frame->f_code) : NULL; // new: no specialised instructions
    if (!plain) {
        PyErr_Clear();
        return 0;
    }
    const _Py_CODEUNIT *code = (const _Py_CODEUNIT *)PyBytes_AS_STRING(plain);
    int sizeof_unit = (int)sizeof(_Py_CODEUNIT), found = 0;
    int line = PyCode_Addr2Line(frame->f_code, _PyInterpreterFrame_LASTI(frame) * sizeof_unit);
    for (Py_ssize_t at = 0; at < PyBytes_GET_SIZE(plain) / sizeof_unit && !found; at++) {
        found = is_resize(code, at, frame->f_code->co_names) &&
                PyCode_Addr2Line(frame->f_code, (int)at * sizeof_unit) == line;
    }
    Py_DECREF(plain);
    return found;
}

static PyObject *resize_call(PyObject *self /* borrowed */, PyObject *args /* borrowed */,
                             PyObject *names /* borrowed */) { // new
    int more = Py_REFCNT(self) > 2 && is_traced();
    Py_SET_REFCNT(self, Py_REFCNT(self) - more);
    PyObject *result = ((PyCFunctionWithKeywords)(void (*)(void))resize_own)(self, args, names);
    Py_SET_REFCNT(self, Py_REFCNT(self) + more);
    return result;
}

void traced_resize_begin(void) {
    if (resize_row) {
        return;
    }
    PyObject *numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy"); // borrowed
    PyObject *array =
        numpy && PyModule_Check(numpy) ? PyDict_GetItemString(PyModule_GetDict(numpy), "ndarray") : NULL;
    PyObject *found = array && PyType_Check(array)
                          ? PyDict_GetItemString(((PyTypeObject *)array)->tp_dict, "resize")
                          : NULL; // borrowed
    if (!found || !Py_IS_TYPE(found, &PyMethodDescr_Type)) {
        return;
    }
    PyMethodDef *row = ((PyMethodDescrObject *)found)->d_method;
    if (row->ml_flags != (METH_VARARGS | METH_KEYWORDS)) {
        return;
    }
    resize_row = row;
    resize_own = row->ml_meth;
    row->ml_meth = (PyCFunction)(void (*)(void))resize_call;
}

void traced_resize_end(void) {
    if (resize_row && resize_row->ml_meth == (PyCFunction)(void (*)(void))resize_call) {
        resize_row->ml_meth = resize_own;
        resize_row = NULL;
    }
}
#endif
