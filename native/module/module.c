// The extension module inspector._native: multi-phase init (PEP 489), one state per module object.
//
// Overview. This file only assembles the module. It runs the parts (module/native.h: INSPECTOR_PARTS) as exec
// slots. A part is one C file that adds its functions and types to the module; parts never include each
// other.
//
// Life cycle. CPython creates the module object, zeroes `native_state`, and runs the slots in the order of
// the list; the first one that fails stops the import with its exception. The state is traversed and cleared
// with the module object, so a reloaded module starts afresh and the old one is collected.
//
// Ownership. The module object owns the references in `native_state`.
//
// Limits. One interpreter only (module/compat.h: COMPAT_INTERPRETERS_SLOT). A free-threaded CPython has the
// parts alone that read one object, or walk the heap while the other threads stand still.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "module/native.h"

native_state *native_get_state(PyObject *module) { return PyModule_GetState(module); }

int names_add(PyObject *module, const char *attribute, const char *const *names, int count) {
    _owned_ PyObject *table = PyTuple_New(count);
    for (int i = 0; table && i < count; i++) {
        if (tuple_set(table, i, PyUnicode_FromString(names[i])) < 0) {
            return -1;
        }
    }
    return table ? PyModule_AddObjectRef(module, attribute, table) : -1;
}

int error_set(PyObject *type, const char *format, ...) {
    va_list values;
    va_start(values, format);
    PyErr_FormatV(type, format, values);
    va_end(values);
    return -1;
}

int error_no_memory(void) {
    PyErr_NoMemory();
    return -1;
}

int tuple_set(PyObject *tuple, Py_ssize_t index, PyObject *item) {
    if (!item) {
        return -1;
    }
    PyTuple_SET_ITEM(tuple, index, item);
    return 0;
}

int list_add(PyObject *list, PyObject *item) {
    _owned_ PyObject *added = item;
    return list && added ? PyList_Append(list, added) : -1;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    native_state *state = native_get_state(module);
    Py_VISIT(state->subject_type);
    Py_VISIT(state->lazy_vector_type);
    Py_VISIT(state->lazy_storage_type);
    Py_VISIT(state->lazy_class);
    return 0;
}

static int module_clear(PyObject *module) {
    native_state *state = native_get_state(module);
    Py_CLEAR(state->subject_type);
    Py_CLEAR(state->lazy_vector_type);
    Py_CLEAR(state->lazy_storage_type);
    Py_CLEAR(state->lazy_class);
    return 0;
}

static void module_free(void *module) { module_clear(module); }

#define PART_SLOT(name) {Py_mod_exec, name##_exec},
static PyModuleDef_Slot module_slots[] = {
    INSPECTOR_PARTS(PART_SLOT) COMPAT_INTERPRETERS_SLOT,
    {0, NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "inspector." Py_STRINGIFY(INSPECTOR_MODULE),
    .m_doc = "The native half of inspector: reads objects and memory, traces calls. The stub is _native.pyi.",
    .m_size = sizeof(native_state),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

native_state *native_type_state(PyTypeObject *type) {
    PyObject *module = PyType_GetModuleByDef(type, &module_def); // borrowed
    return module ? native_get_state(module) : NULL;
}

#define INIT_OF(name) PyInit_##name
#define INIT(name) INIT_OF(name)
PyMODINIT_FUNC INIT(INSPECTOR_MODULE)(void); // its prototype: Python.h has none
PyMODINIT_FUNC INIT(INSPECTOR_MODULE)(void) { return PyModuleDef_Init(&module_def); }
