// How one object holds another: as an item, under a key, as an attribute, in a cell ... with its name.
//
// A holder is asked by its layout and by its type's member tables, never by its attributes: no user code
// runs, and no instance is given a __dict__ it did not have. A dict that is the namespace of an instance, a
// class or a module counts as part of it (links_own_dict): `app.bus.callback` is one step from `bus`.
// What no table explains is a "slot" without a name. All pointers are borrowed; the GIL is held.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "objects/objects.h"

#include <structmember.h>

PyObject *links_own_dict(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT)) { // of no module and no class
        return compat_managed_dict(object);
    }
    if (PyModule_Check(object)) {
        return PyModule_GetDict(object);
    }
    if (PyType_Check(object)) {
        _owned_ PyObject *dict = compat_type_dict((PyTypeObject *)object);
        return dict; // the class keeps it
    }
    Py_ssize_t offset = type->tp_dictoffset;
    if (offset < 0) { // counted from the end of a variable-sized object
        offset += (Py_ssize_t)_PyObject_VAR_SIZE(type, Py_ABS(Py_SIZE(object)));
    }
    return offset > 0 ? *(PyObject **)((char *)object + offset) : NULL;
}

static int in_sequence(PyObject *holder, PyObject *target, link_found *ret) {
    int is_list = PyList_Check(holder);
    if (!is_list && !PyTuple_Check(holder)) {
        return 0;
    }
    Py_ssize_t size = Py_SIZE(holder);
    PyObject **items = is_list ? ((PyListObject *)holder)->ob_item : ((PyTupleObject *)holder)->ob_item;
    for (Py_ssize_t i = 0; i < size; i++) {
        if (items[i] == target) {
            *ret = (link_found){"item", NULL, NULL, i};
            return 1;
        }
    }
    return 0;
}

static int in_dict(PyObject *dict, PyObject *target, const char *kind, link_found *ret) {
    PyObject *key, *value; // borrowed
    Py_ssize_t position = 0;
    while (dict && PyDict_Check(dict) && PyDict_Next(dict, &position, &key, &value)) {
        if (value == target || key == target) {
            *ret = (link_found){value == target ? kind : "key", NULL, key, -1};
            return 1;
        }
    }
    return 0;
}

static int in_values(PyObject *holder, PyObject *target, link_found *ret) {
    PyDictValues *values = compat_instance_values(holder);
    if (!values) {
        return 0;
    }
    PyDictKeysObject *keys = ((PyHeapTypeObject *)Py_TYPE(holder))->ht_cached_keys;
    for (Py_ssize_t i = 0; i < keys->dk_nentries; i++) {
        if (values->values[i] == target) {
            *ret = (link_found){"attribute", NULL, DK_UNICODE_ENTRIES(keys)[i].me_key, -1};
            return 1;
        }
    }
    return 0;
}

// Members of C structs and `__slots__`, by the tables of the types in the MRO.
static int in_members(PyObject *holder, PyObject *target, link_found *ret) {
    PyObject *mro = Py_TYPE(holder)->tp_mro; // borrowed
    for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        for (PyMemberDef *member = base->tp_members; member && member->name; member++) {
            int is_object = member->type == T_OBJECT || member->type == T_OBJECT_EX;
            if (is_object && *(PyObject **)((char *)holder + member->offset) == target) {
                *ret = (link_found){base->tp_flags & Py_TPFLAGS_HEAPTYPE ? "slot" : "attribute", member->name,
                                    NULL, -1};
                return 1;
            }
        }
    }
    return 0;
}

typedef struct {
    PyTypeObject *type; // borrowed
    size_t offset;
    const char *kind;
    const char *name;
} links_field;

// References of common C types that stand in no member table.
static const links_field fields[] = {
    {&PyFunction_Type, offsetof(PyFunctionObject, func_code), "attribute", "__code__"},
    {&PyFunction_Type, offsetof(PyFunctionObject, func_defaults), "attribute", "__defaults__"},
    {&PyFunction_Type, offsetof(PyFunctionObject, func_kwdefaults), "attribute", "__kwdefaults__"},
    {&PyFunction_Type, offsetof(PyFunctionObject, func_annotations), "attribute", "__annotations__"},
    {&PyFunction_Type, offsetof(PyFunctionObject, func_name), "attribute", "__name__"},
    {&PyFunction_Type, offsetof(PyFunctionObject, func_qualname), "attribute", "__qualname__"},
    {&PyCell_Type, offsetof(PyCellObject, ob_ref), "cell", ""},
    {&PyMethod_Type, offsetof(PyMethodObject, im_self), "bound method", "__self__"},
    {&PyMethod_Type, offsetof(PyMethodObject, im_func), "bound method", "__func__"},
    {&PyCFunction_Type, offsetof(PyCFunctionObject, m_self), "bound method", "__self__"},
    {&PyCode_Type, offsetof(PyCodeObject, co_consts), "attribute", "co_consts"},
    {&PyCode_Type, offsetof(PyCodeObject, co_localsplusnames), "attribute", "co_localsplusnames"},
};

static int in_fields(PyObject *holder, PyObject *target, link_found *ret) {
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        if (Py_IS_TYPE(holder, fields[i].type) &&
            *(PyObject **)((char *)holder + fields[i].offset) == target) {
            *ret = (link_found){fields[i].kind, fields[i].name, NULL, -1};
            return 1;
        }
    }
    return 0;
}

static int in_type(PyObject *holder, PyObject *target, link_found *ret) {
    if (PyType_Check(holder)) {
        PyTypeObject *type = (PyTypeObject *)holder;
        const char *name = (PyObject *)type->tp_base == target ? "__base__"
                           : type->tp_bases == target          ? "__bases__"
                           : type->tp_mro == target            ? "__mro__"
                                                               : NULL;
        if (name) {
            *ret = (link_found){"type", name, NULL, -1};
            return 1;
        }
    }
    if ((PyObject *)Py_TYPE(holder) == target) {
        *ret = (link_found){"type", "__class__", NULL, -1};
        return 1;
    }
    return 0;
}

// A local variable, or what is in its cell.
int links_in_slots(PyCodeObject *code, PyObject **slots, PyObject *target, link_found *ret) {
    PyObject *names = code->co_localsplusnames; // borrowed
    for (int i = 0; i < code->co_nlocalsplus && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *value = compat_variable(slots[i]); // borrowed
        int in_cell = value && PyCell_Check(value) && PyCell_GET(value) == target;
        if (value == target || in_cell) {
            *ret = (link_found){"local", NULL, PyTuple_GET_ITEM(names, i), -1};
            return 1;
        }
    }
    return 0;
}

static int in_generator(PyObject *holder, PyObject *target, link_found *ret) {
    frame_view view;
    if (!frames_of_object(holder, &view) || !links_in_slots(view.code, view.slots, target, ret)) {
        return 0;
    }
    ret->kind = PyFrame_Check(holder) ? "traceback local" : "generator local";
    return 1;
}

void links_find(PyObject *holder, PyObject *target, link_found *ret) {
    *ret = (link_found){"slot", NULL, NULL, -1};
    if (PyDict_Check(holder) && in_dict(holder, target, "item", ret)) {
        return;
    }
    PyObject *dict = links_own_dict(holder); // borrowed
    if (dict && dict == target) {
        *ret = (link_found){"attribute", "__dict__", NULL, -1};
        return;
    }
    if (arrays_is(holder) && arrays_find(holder, target, ret)) {
        return;
    }
    const char *kind = PyModule_Check(holder) ? "global" : "attribute";
    if (in_sequence(holder, target, ret) || in_values(holder, target, ret) ||
        in_dict(dict, target, kind, ret) || in_fields(holder, target, ret) ||
        in_members(holder, target, ret) || in_type(holder, target, ret) ||
        in_generator(holder, target, ret)) {
        return;
    }
    if (PyAnySet_Check(holder)) {
        ret->kind = "item";
    } else if (PyModule_Check(holder)) {
        ret->kind = "module state";
    } else if (strcmp(Py_TYPE(holder)->tp_name, "functools._lru_cache_wrapper") == 0) {
        ret->kind = "cache";
    }
}
