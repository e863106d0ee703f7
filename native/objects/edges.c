// What an object refers to, as far as CPython and known layouts tell: the one definition of a reference
// that census, retained sizes and chains share.
//
// tp_traverse is the gc's own question. It is asked only where the gc would ask it: of objects in the gc's
// lists, and of exact tuples and dicts, which the gc takes out of its lists when they cannot be part of a
// cycle; and of struct sequences (os.stat_result, torch.return_types.sort), which C code makes outside of
// those lists, with NULL in each field that is not set. Any other object that is not in a list may be half
// built; it is taken as it stands, without references; a ContextVar whose default is no container is in none.
// Things that tp_traverse leaves out are added: the keys of a dict whose keys are all strings (dict_traverse
// skips them), and the parts of a code object, a range, an ndarray and a datetime (no gc types). Keys that
// instances share with their class belong to the class's key table, not to one dict, and are left out. Two
// things that it tells too much are taken out: from 3.14 on the stack of a suspended frame may borrow what a
// variable owns, and tp_traverse reports both; and a module may name what is dead (_asyncio its free list).
//
// Nothing is owned here: every reference passed to `visit` is borrowed and stays valid while the GIL is held.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "objects/objects.h"

// Keys of a dict whose table is its own and holds strings only; unused entries have no value.
static int visit_keys(PyDictObject *dict /* borrowed */, visitproc visit, void *arg) {
    PyDictKeysObject *keys = dict->ma_keys;
    if (keys->dk_kind == DICT_KEYS_GENERAL || dict->ma_values) {
        return 0;
    }
    PyDictUnicodeEntry *entries = DK_UNICODE_ENTRIES(keys);
    for (Py_ssize_t i = 0; i < keys->dk_nentries; i++) {
        if (entries[i].me_value) {
            Py_VISIT(entries[i].me_key);
        }
    }
    return 0;
}

// The fields that every code object has (Include/cpython/code.h); caches of the interpreter left out.
static int visit_code(PyCodeObject *code /* borrowed */, visitproc visit, void *arg) {
    Py_VISIT(code->co_consts);
    Py_VISIT(code->co_names);
    Py_VISIT(code->co_exceptiontable);
    Py_VISIT(code->co_localsplusnames);
    Py_VISIT(code->co_localspluskinds);
    Py_VISIT(code->co_filename);
    Py_VISIT(code->co_name);
    Py_VISIT(code->co_qualname);
    Py_VISIT(code->co_linetable);
    return 0;
}

// Objects/rangeobject.c; the same from 3.3 to 3.15. Each field is an int of its own, `length` too.
typedef struct {
    PyObject_HEAD PyObject *start, *stop, *step, *length; // owned
} range_object;

static int visit_range(const range_object *range /* borrowed */, visitproc visit, void *arg) {
    Py_VISIT(range->start);
    Py_VISIT(range->stop);
    Py_VISIT(range->step);
    Py_VISIT(range->length);
    return 0;
}

// No class derives from a struct sequence, and all have the tp_traverse of sys.flags.
static int is_struct_sequence(const PyTypeObject *type) {
    static traverseproc traverse;
    PyObject *flags = traverse ? NULL : PySys_GetObject("flags"); // borrowed
    if (flags && !PyType_HasFeature(Py_TYPE(flags), Py_TPFLAGS_BASETYPE)) {
        traverse = Py_TYPE(flags)->tp_traverse;
    }
    return traverse && type->tp_traverse == traverse;
}

int edges_has(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (compat_may_be_untracked(type)) {
        return 1;
    }
    if (PyType_HasFeature(type, Py_TPFLAGS_HAVE_GC) && (!type->tp_is_gc || type->tp_is_gc(object))) {
        return compat_gc_tracked(object) || is_struct_sequence(type) || type == &PyContextVar_Type;
    }
    return type == &PyCode_Type || type == &PyRange_Type || datetimes_is(type) || arrays_is(object);
}

void edges_prepare(void) {
    arrays_prepare();
    datetimes_prepare();
}

#if COMPAT_SLOTS_TAGGED
typedef struct {
    visitproc visit;
    void *arg;
    const frame_view *view;
    uint64_t skipped; // one bit a slot; slots beyond the 64th are reported as they stand
} owned_visit;

static int visit_owned(PyObject *visited /* borrowed */, void *argument) {
    owned_visit *v = argument;
    for (int i = 0; i < v->view->values && i < 64; i++) {
        uintptr_t word = (uintptr_t)v->view->slots[i];
        if (word == ((uintptr_t)visited | 1) && !(v->skipped >> i & 1)) {
            v->skipped |= (uint64_t)1 << i;
            return 0;
        }
    }
    return v->visit(visited, v->arg);
}

static int visit_frame_object(PyObject *object /* borrowed */, visitproc visit, void *arg) {
    frame_view view;
    owned_visit v = {visit, arg, &view, 0};
    return frames_of_object(object, &view) ? Py_TYPE(object)->tp_traverse(object, visit_owned, &v)
                                           : Py_TYPE(object)->tp_traverse(object, visit, arg);
}

static int is_frame_object(PyTypeObject *type) {
    return type == &PyGen_Type || type == &PyCoro_Type || type == &PyAsyncGen_Type || type == &PyFrame_Type;
}
#endif

// What a tp_traverse of others raises is nobody's: it is not asked to, and the gc would not see it either. An
// exception that is set already is the program's, and stays.
int edges_traverse(PyObject *object, visitproc visit, void *arg) {
    int pending = PyErr_Occurred() != NULL;
    int stop = Py_TYPE(object)->tp_traverse(object, visit, arg);
    if (!pending && PyErr_Occurred()) {
        PyErr_Clear();
    }
    return stop;
}

typedef struct {
    visitproc visit;
    void *arg;
} live_visit;

static int visit_live(PyObject *visited /* borrowed */, void *argument) {
    const live_visit *v = argument;
    return compat_refcount(visited) > 0 ? v->visit(visited, v->arg) : 0;
}

// The commonest types, whose tp_traverse raises nothing, without the questions that others need.
static int visit_plain(PyObject *object, visitproc visit, void *arg) {
    if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
        return Py_TYPE(object)->tp_traverse(object, visit, arg);
    }
    int stop = visit_keys((PyDictObject *)object, visit, arg);
    return stop ? stop : PyDict_Type.tp_traverse(object, visit, arg);
}

int edges_visit(PyObject *object, visitproc visit, void *arg) {
    PyTypeObject *type = Py_TYPE(object);
    if (edges_plain(type)) {
        return visit_plain(object, visit, arg);
    }
    if (type == &PyCode_Type) {
        return visit_code((PyCodeObject *)object, visit, arg);
    }
    if (type == &PyRange_Type) {
        return visit_range((const range_object *)object, visit, arg);
    }
    if (datetimes_is(type)) {
        return datetimes_visit(object, visit, arg);
    }
    if (arrays_is(object)) {
        int stop = arrays_visit(object, visit, arg);
        if (stop || !PyType_HasFeature(type, Py_TPFLAGS_HAVE_GC)) {
            return stop;
        }
    }
#if COMPAT_SLOTS_TAGGED
    if (is_frame_object(type)) {
        return visit_frame_object(object, visit, arg);
    }
#endif
    if (PyType_FastSubclass(type, Py_TPFLAGS_DICT_SUBCLASS)) {
        int stop = visit_keys((PyDictObject *)object, visit, arg);
        if (stop) {
            return stop;
        }
    }
    if (type == &PyModule_Type || type->tp_base == &PyModule_Type) {
        live_visit v = {visit, arg};
        return edges_traverse(object, visit_live, &v);
    }
    return edges_traverse(object, visit, arg);
}

// The values of every second instance lie in two lines of the cache: they begin near the end of one.
static void prefetch_values(PyObject *object) {
    const char *values = (const char *)compat_instance_values(object);
    if (values) {
        __builtin_prefetch(values);
        __builtin_prefetch(values + 2 * sizeof(PyObject *));
    }
}

// Asks for the memory that edges_visit will read, of an object whose header has arrived.
void edges_prefetch(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyList_Type) {
        __builtin_prefetch(((PyListObject *)object)->ob_item);
    } else if (type == &PyDict_Type) {
        const char *keys = (const char *)((PyDictObject *)object)->ma_keys;
        __builtin_prefetch(keys);
        __builtin_prefetch(keys + 64);
    } else if (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT)) {
        prefetch_values(object);
    }
}
