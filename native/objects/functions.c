// What a builtin function and an extension module are made of: PyMethodDef and PyModuleDef, as rows.
//
// Builtin functions come in six shapes, all of them thin objects around a row that C wrote down:
//   builtin_function_or_method, method_descriptor, classmethod_descriptor   a PyMethodDef
//   wrapper_descriptor, method-wrapper   a type slot dressed as a method (struct wrapperbase)
//   getset_descriptor                    a PyGetSetDef
// Only the types CPython itself made are read: their structs are known (cpython/descrobject.h); the one of
// method-wrapper is private to Objects/descrobject.c and repeated here.
//
// A module is an extension module if it keeps a PyModuleDef (PyModule_GetDef). One whose definition has
// m_slots was made in phases (PEP 489). The rows of m_slots are (number, value); a value is a function for
// Py_mod_create and Py_mod_exec, and a plain number for the slots added since 3.12.
// SPDX-License-Identifier: MIT
#include "objects/objects.h"

enum { NAME_MAX_CHARS = 120, SLOTS_MAX = 64, ENTRIES_MAX = 10000, TYPES_MAX = 1000 };

typedef struct {
    PyObject_HEAD PyWrapperDescrObject *descriptor; // owned by the wrapper; borrowed here
    PyObject *self;                                 // owned by the wrapper; borrowed here
} method_wrapper;

static PyObject *self_name(PyObject *self /* borrowed, may be NULL */) { // new str
    if (!self) {
        return PyUnicode_FromString("");
    }
    if (PyModule_Check(self) && PyModule_GetDef(self)) {
        return text_from_c(PyModule_GetDef(self)->m_name, NAME_MAX_CHARS);
    }
    return layout_type_name(PyType_Check(self) ? (PyTypeObject *)self : Py_TYPE(self));
}

// One row for all shapes: kind, method row, what it is bound to, vectorcall, the slot that it wraps.
static PyObject *builtin_row(const char *kind, PyObject *row /* stolen, NULL on error */,
                             PyObject *bound_to /* stolen, NULL on error */, vectorcallfunc vectorcall,
                             const char *slot) {
    return Py_BuildValue("{ss sN sN sN ss}", "kind", kind, "method", row, "bound_to", bound_to, "vectorcall",
                         PyLong_FromVoidPtr((void *)vectorcall), "slot", slot);
}

static PyObject *method_descriptor_row(PyMethodDescrObject *descriptor, const char *kind) { // new
    return builtin_row(kind, types_method_row(descriptor->d_method),
                       layout_type_name(descriptor->d_common.d_type), descriptor->vectorcall, "");
}

static PyObject *wrapper_row(PyWrapperDescrObject *descriptor, PyObject *bound_to /* stolen */,
                             const char *kind) { // new
    PyMethodDef as_method = {descriptor->d_base->name, (PyCFunction)descriptor->d_wrapped, 0,
                             descriptor->d_base->doc};
    return builtin_row(kind, types_method_row(&as_method), bound_to, NULL,
                       types_slot_name(descriptor->d_base->offset));
}

static PyObject *getset_row(PyGetSetDescrObject *descriptor) { // new
    PyMethodDef as_method = {descriptor->d_getset->name,
                             (PyCFunction)(void (*)(void))descriptor->d_getset->get, 0,
                             descriptor->d_getset->doc};
    return builtin_row("getset_descriptor", types_method_row(&as_method),
                       layout_type_name(descriptor->d_common.d_type), NULL, "");
}

// _PyMethodWrapper_Type is not exported since 3.13; no other static type has this name.
static int is_method_wrapper(PyTypeObject *type) {
    return !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) && strcmp(type->tp_name, "method-wrapper") == 0;
}

static PyObject *functions_builtin(PyObject *module, PyObject *subject) {
    PyObject *object = subject_object(module, subject); // borrowed
    PyTypeObject *type = object ? Py_TYPE(object) : NULL;
    if (!object) {
        return NULL;
    }
    if (type == &PyCFunction_Type || type == &PyCMethod_Type) {
        PyCFunctionObject *function = (PyCFunctionObject *)object;
        return builtin_row("builtin_function_or_method", types_method_row(function->m_ml),
                           self_name(function->m_self), function->vectorcall, "");
    }
    if (type == &PyMethodDescr_Type) {
        return method_descriptor_row((PyMethodDescrObject *)object, "method_descriptor");
    }
    if (type == &PyClassMethodDescr_Type) {
        return method_descriptor_row((PyMethodDescrObject *)object, "classmethod_descriptor");
    }
    if (type == &PyWrapperDescr_Type) {
        PyWrapperDescrObject *descriptor = (PyWrapperDescrObject *)object;
        return wrapper_row(descriptor, layout_type_name(descriptor->d_common.d_type), "wrapper_descriptor");
    }
    if (is_method_wrapper(type)) {
        method_wrapper *wrapper = (method_wrapper *)object;
        return wrapper_row(wrapper->descriptor, self_name(wrapper->self), "method-wrapper");
    }
    if (type == &PyGetSetDescr_Type) {
        return getset_row((PyGetSetDescrObject *)object);
    }
    Py_RETURN_NONE;
}

// 3.15 numbers the slots anew, from Py_mod_create on; modules of the stable ABI keep the old numbers.
static int module_slot_number(int slot) { return slot >= Py_mod_create ? slot - Py_mod_create + 1 : slot; }

static const char *module_slot_name(int slot) {
    static const char *const names[] = {"?", "Py_mod_create", "Py_mod_exec", "Py_mod_multiple_interpreters",
                                        "Py_mod_gil"};
    int number = module_slot_number(slot);
    return number > 0 && number < (int)(sizeof(names) / sizeof(*names)) ? names[number] : names[0];
}

static PyObject *module_slots(const PyModuleDef_Slot *slots) { // new list of (name, value, is a function)
    _owned_ PyObject *rows = PyList_New(0);
    for (int i = 0; rows && slots && i < SLOTS_MAX && slots[i].slot; i++) {
        int number = module_slot_number(slots[i].slot), function = number == 1 || number == 2;
        if (list_add(rows, Py_BuildValue("(sNO)", module_slot_name(slots[i].slot),
                                         PyLong_FromVoidPtr(slots[i].value), function ? Py_True : Py_False)) <
            0) {
            return NULL;
        }
    }
    return take(rows);
}

static PyObject *str_under(PyObject *dict /* borrowed */, const char *key) { // new exact str
    PyObject *value = layout_lookup(dict, key);                              // borrowed
    int usable = value && PyUnicode_CheckExact(value) && PyUnicode_IS_READY(value);
    return usable ? Py_NewRef(value) : PyUnicode_FromString("");
}

static PyObject *visible_under(PyObject *dict /* borrowed */, const char *key, Py_ssize_t limit) { // new str
    _owned_ PyObject *value = str_under(dict, key);
    return value ? text_visible(value, limit) : NULL;
}

// The first line with something in it, of a doc string made in Python. Its UTF-8 form is not asked for:
// CPython would keep it in the str.
static PyObject *doc_line(PyObject *dict /* borrowed */) { // new str
    _owned_ PyObject *doc = str_under(dict, "__doc__");
    if (!doc) {
        return NULL;
    }
    Py_ssize_t start = 0, length = PyUnicode_GET_LENGTH(doc);
    while (start < length && Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(doc, start))) {
        start++;
    }
    Py_ssize_t end = PyUnicode_FindChar(doc, '\n', start, length, 1);
    _owned_ PyObject *line = PyUnicode_Substring(doc, start, end < 0 ? length : end);
    return line ? text_visible(line, NAME_MAX_CHARS) : NULL;
}

// Whether `type` says that it lives in the module called `name`.
static int is_of_module(PyTypeObject *type, PyObject *name /* borrowed */) {
    _owned_ PyObject *full = layout_type_name(type);
    Py_ssize_t length = PyUnicode_GET_LENGTH(name);
    if (!full) {
        PyErr_Clear();
        return 0;
    }
    return PyUnicode_Tailmatch(full, name, 0, PY_SSIZE_T_MAX, -1) == 1 &&
           PyUnicode_GET_LENGTH(full) > length && PyUnicode_READ_CHAR(full, length) == '.';
}

// Types in the module's namespace, by the names they have there. The dict is only walked.
static PyObject *module_types(PyObject *dict /* borrowed */, PyObject *name /* borrowed */) { // new list
    PyObject *key, *value;                                                                    // borrowed
    Py_ssize_t at = 0, seen = 0;
    _owned_ PyObject *types = PyList_New(0);
    while (types && dict && seen++ < ENTRIES_MAX && PyList_GET_SIZE(types) < TYPES_MAX &&
           PyDict_Next(dict, &at, &key, &value)) {
        if (!PyType_Check(value) || !PyUnicode_CheckExact(key) ||
            !is_of_module((PyTypeObject *)value, name)) {
            continue;
        }
        if (list_add(types, text_visible(key, NAME_MAX_CHARS)) < 0) {
            return NULL;
        }
    }
    return take(types);
}

static PyObject *functions_module(PyObject *module, PyObject *subject) {
    PyObject *object = subject_object(module, subject); // borrowed
    if (!object || !PyModule_Check(object)) {
        return object ? Py_NewRef(Py_None) : NULL;
    }
    PyModuleDef *definition = PyModule_GetDef(object);
    PyObject *dict = PyModule_GetDict(object); // borrowed
    _owned_ PyObject *name = str_under(dict, "__name__");
    if (!name) {
        return NULL;
    }
    const char *doc = definition ? definition->m_doc : NULL;
    return Py_BuildValue("{sN sN sN sN sN sN sn sN sN sN}", "name", text_visible(name, NAME_MAX_CHARS),
                         "file", visible_under(dict, "__file__", TEXT_MAX_CHARS), "types",
                         module_types(dict, name), "definition", PyLong_FromVoidPtr(definition), "m_name",
                         text_from_c(definition ? definition->m_name : NULL, NAME_MAX_CHARS), "doc",
                         doc ? types_first_line(doc) : doc_line(dict), "m_size",
                         definition ? definition->m_size : 0, "slots",
                         module_slots(definition ? definition->m_slots : NULL), "methods",
                         types_method_rows(definition ? definition->m_methods : NULL), "state",
                         PyLong_FromVoidPtr(definition ? PyModule_GetState(object) : NULL));
}

PART_FUNCTIONS(functions, {"builtin_layout", functions_builtin, METH_O, NULL},
               {"module_layout", functions_module, METH_O, NULL})
