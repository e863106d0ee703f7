// What Python can call of the watched libraries and is not hooked, as the ledger is about to close.
//
// Hooks are put where modules and types show functions. Others are made while the code runs, or kept where
// nothing looks: in a dict, in a slot without a hook. One walk over what the collector knows, and what this
// holds, finds each pointer that leads into a library with a hooked function and is no trampoline.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/instances.h"
#include "objects/objects.h"
#include "trace/arm/calls.h"
#include "trace/arm/got.h"

#include <link.h>

enum { LIBRARIES_MAX = 512, FOUND_MAX = 4096 };

static struct dl_phdr_info libraries[LIBRARIES_MAX];
static int library_count;
static int looks_behind; // some instances are known to no collector: holders are asked

static int is_watched(uintptr_t function) {
    int i = 0;
    while (i < library_count && !relocations_inside(&libraries[i], (const void *)function)) {
        i++;
    }
    return function && i < library_count;
}

static int find_library(struct dl_phdr_info *object, size_t size, void *function) {
    int found = relocations_inside(object, function);
    if (found && library_count < LIBRARIES_MAX) {
        libraries[library_count++] = *object;
    }
    return found;
}

// The libraries of the functions, without Python's own and ours.
static int libraries_find(PyObject *functions) {
    library_count = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions); i++) {
        uintptr_t function = (uintptr_t)PyLong_AsVoidPtr(PyList_GET_ITEM(functions, i));
        if (PyErr_Occurred()) {
            return -1;
        }
        if (!is_watched(function)) {
            dl_iterate_phdr(find_library, (void *)function);
        }
    }
    for (int i = library_count - 1; i >= 0; i--) {
        if (relocations_inside(&libraries[i], (const void *)PyLong_FromLong) ||
            relocations_inside(&libraries[i], (const void *)libraries_find)) {
            libraries[i] = libraries[--library_count];
        }
    }
    return 0;
}

static uintptr_t vectorcall_of(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    int has_own = PyType_HasFeature(type, Py_TPFLAGS_HAVE_VECTORCALL) && type->tp_vectorcall_offset > 0;
    return has_own ? *(uintptr_t *)((char *)object + type->tp_vectorcall_offset) : 0;
}

static int is_descriptor(PyTypeObject *type) {
    return type == &PyMethodDescr_Type || type == &PyClassMethodDescr_Type || type == &PyGetSetDescr_Type;
}

static PyObject *descriptor_name(PyObject *object) {
    int is_watched_one = 0;
    if (Py_IS_TYPE(object, &PyGetSetDescr_Type)) {
        const PyGetSetDef *pair = ((PyGetSetDescrObject *)object)->d_getset;
        is_watched_one = is_watched((uintptr_t)(void *)pair->get) || is_watched((uintptr_t)(void *)pair->set);
    } else {
        is_watched_one = is_watched((uintptr_t)(void *)((PyMethodDescrObject *)object)->d_method->ml_meth);
    }
    return is_watched_one ? PyUnicode_FromFormat("%s.%U", PyDescr_TYPE(object)->tp_name, PyDescr_NAME(object))
                          : NULL;
}

// The name of what is called by a pointer without a hook; NULL if there is none. New.
static PyObject *unhooked_name(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyCFunction_Type || type == &PyCMethod_Type) {
        const PyMethodDef *row = ((PyCFunctionObject *)object)->m_ml;
        return is_watched((uintptr_t)row->ml_meth) ? PyUnicode_FromString(row->ml_name) : NULL;
    }
    if (is_descriptor(type)) {
        int is_made =
            PyType_HasFeature(PyDescr_TYPE(object), Py_TPFLAGS_HEAPTYPE); // others are found by name
        return is_made ? descriptor_name(object) : NULL;
    }
    if (PyType_Check(object)) {
        PyTypeObject *of = (PyTypeObject *)object; // borrowed
        const char *slot = type_slots_unhooked(of, is_watched);
        return slot ? PyUnicode_FromFormat("%s.%s", of->tp_name, slot) : NULL;
    }
    return is_watched(vectorcall_of(object)) ? PyUnicode_FromString(type->tp_name) : NULL;
}

// A function that a weak reference calls, which no code of the user does.
static int is_callback_of(PyObject *object) {
    PyObject *called =
        Py_IS_TYPE(object, &_PyWeakref_RefType) ? ((PyWeakReference *)object)->wr_callback : NULL;
    return called && Py_IS_TYPE(called, &PyCFunction_Type) &&
           is_watched((uintptr_t)((PyCFunctionObject *)called)->m_ml->ml_meth);
}

typedef struct {
    PyObject *names, *objects; // lists of equal length, made before the walk: new tuples would be met by it
} findings;

static int found_add(const findings *found, const char *name, PyObject *object) {
    return list_add(found->names, PyUnicode_FromString(name)) || PyList_Append(found->objects, object);
}

static int look_at(PyObject *object, void *argument) {
    const findings *found = argument;
    PyTypeObject *type = Py_TYPE(object);
    if (is_callback_of(object)) {
        return found_add(found, "weakref", Py_None);
    }
    int may_be =
        PyType_HasFeature(type, Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_TYPE_SUBCLASS) || is_descriptor(type);
    _owned_ PyObject *name = may_be && compat_refcount(object) > 0 ? unhooked_name(object) : NULL;
    int is_told = name && PyList_GET_SIZE(found->names) < FOUND_MAX;
    return is_told && (PyList_Append(found->names, name) || PyList_Append(found->objects, object));
}

static int look_behind(PyObject *object, void *found) {
    return PyType_IS_GC(Py_TYPE(object)) ? 0 : look_at(object, found);
}

static int look(PyObject *object, void *argument) {
    const findings *found = argument;
    PyTypeObject *type = Py_TYPE(object);
    int is_code =
        type == &PyFunction_Type || type == &PyCFunction_Type || is_descriptor(type); // most objects
    int has_behind = looks_behind && !is_code && !PyType_Check(object) && compat_refcount(object) > 0;
    return look_at(object, argument) ||
           (has_behind && object != found->objects && edges_visit(object, look_behind, argument));
}

static int has_own_pointer(PyTypeObject *type) {
    return PyType_HasFeature(type, Py_TPFLAGS_HAVE_VECTORCALL) && type->tp_vectorcall_offset > 0 &&
           !PyType_IsSubtype(type, &PyType_Type);
}

// An instance that is called by a pointer of its own and died: its type is told.
static int look_at_type(PyTypeObject *type, const findings *found) {
    int is_own = has_own_pointer(type);
    looks_behind |= is_own && !PyType_IS_GC(type);
    return is_own && instances_died(type) ? found_add(found, type->tp_name, Py_None) : 0;
}

static PyObject *ledger_unhooked(PyObject *module, PyObject *args) {
    PyObject *functions, *types; // borrowed
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &functions, &PyList_Type, &types) ||
        libraries_find(functions) < 0) {
        return NULL;
    }
    _collector_ int was_on = PyGC_Disable();
    _owned_ PyObject *names = PyList_New(0), *objects = PyList_New(0);
    findings found = {names, objects};
    looks_behind = 0;
    for (Py_ssize_t i = 0; names && objects && i < PyList_GET_SIZE(types); i++) {
        PyObject *type = PyList_GET_ITEM(types, i); // borrowed
        int is_met = !PyType_Check(type) || PyType_HasFeature((PyTypeObject *)type, Py_TPFLAGS_HEAPTYPE);
        if ((PyType_Check(type) && look_at_type((PyTypeObject *)type, &found) < 0) ||
            (!is_met && look_at(type, &found))) {
            return NULL;
        }
    }
    if (!names || !objects || edges_each_tracked(look, &found)) {
        return NULL;
    }
    return PyTuple_Pack(2, names, objects);
}

PART_FUNCTIONS(unhooked, {"ledger_unhooked", ledger_unhooked, METH_VARARGS, NULL})
