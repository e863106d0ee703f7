// Reached: what each of several objects holds, and how much of that none before it holds.
//
// A walk from each object by what it refers to (objects/edges.c). One bitmap a walk counts an object once for
// its root; another one, of all walks, counts it once for all of them. What belongs to everybody ends a walk:
// modules, code, immortal objects, classes, and the objects in `stops`. A root that is a class of `__main__`
// is followed. Of a function its variables, defaults and attributes are followed, not its globals.
//
// Objects of the types in `leaves` have bytes that an adapter knows: they are handed back, their struct
// counted; of a root that is one not even that, where each root is counted for itself: a name shows its
// array's bytes. What only they refer to comes last (the base of a view), so that it can be told from what
// the root holds.
//
// Nothing changes meanwhile (module/still.h); all object pointers are borrowed until they are handed back.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "heap/tally.h"
#include "memory/marks.h"
#include "module/interrupt.h"
#include "module/still.h"
#include "objects/objects.h"

enum { FOLLOWED = 1, STOPS, LEAF, CLASS, FUNCTION };

typedef struct {
    marks all, root;
    marks *seen;     // of this walk: `root`, or `all` where each object is counted for one root
    PyObject *start; // borrowed: the root
    tally types;
    PyObject *stops;            // borrowed tuple
    PyObject *leaves;           // borrowed tuple of types
    arena_stack open, shut;     // to be followed: now, and after all else
    PyObject *found;            // owned: leaves met
    Py_ssize_t objects;         // counted or handed back for this root
    Py_ssize_t bytes, fresh;    // of this root's objects; of those that no root before it reaches
    Py_ssize_t left, left_leaf; // how many may still be looked at, handed back
    interrupt_watch watch;
    int failed;
} reached_walk;

static int has(PyObject *tuple, const void *object) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        if (PyTuple_GET_ITEM(tuple, i) == object) {
            return 1;
        }
    }
    return 0;
}

static int how(reached_walk *walk, PyTypeObject *type) {
    if (has(walk->leaves, type)) {
        return LEAF;
    }
    if (PyType_FastSubclass(type, Py_TPFLAGS_TYPE_SUBCLASS)) {
        return CLASS;
    }
    int shared = PyType_IsSubtype(type, &PyModule_Type) || type == &PyCode_Type || type == &PyCFunction_Type;
    return shared ? STOPS : type == &PyFunction_Type ? FUNCTION : FOLLOWED;
}

// A class of the user's own: what it holds in its namespace is the user's.
static int is_of_main(PyObject *object) {
    PyTypeObject *type = (PyTypeObject *)object;
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        return 0;
    }
    _owned_ PyObject *module = layout_type_module(type);
    PyErr_Clear();
    return module && PyUnicode_CompareWithASCIIString(module, "__main__") == 0;
}

// A method of an object, as a Condition keeps of its lock, belongs to its holder; a module's function does
// not.
static int is_of_an_object(PyObject *object) {
    PyObject *self = PyCFunction_CheckExact(object) ? PyCFunction_GET_SELF(object) : NULL; // borrowed
    return self && !PyModule_Check(self) && !PyType_Check(self);
}

static void count(reached_walk *walk, PyObject *object, size_t own) {
    Py_ssize_t bytes = (Py_ssize_t)own;
    int fresh = walk->seen == &walk->all ? 1 : marks_add(&walk->all, object);
    walk->failed |= fresh < 0;
    walk->bytes += bytes;
    walk->fresh += fresh == 1 ? bytes : 0;
}

// A visitproc.
static int meet(PyObject *object, void *arg) {
    reached_walk *walk = arg;
    int fresh = marks_add(walk->seen, object);
    if (fresh < 1 || compat_is_immortal(object) || has(walk->stops, object)) {
        return walk->failed |= fresh < 0;
    }
    tally_row *row = tally_find(&walk->types, Py_TYPE(object));
    if (!row) {
        return walk->failed = 1;
    }
    row->mark = row->mark ? row->mark : how(walk, Py_TYPE(object));
    int ends = row->mark == STOPS && !is_of_an_object(object);
    if (ends || (row->mark == CLASS && (object != walk->start || !is_of_main(object)))) {
        return 0;
    }
    if (walk->left-- <= 0) {
        return 1;
    }
    walk->objects++;
    row->objects++;
    if (row->mark == LEAF && walk->left_leaf-- > 0) {
        if (object != walk->start || walk->seen == &walk->all) { // its struct: what it shows is the adapter's
            count(walk, object, own_bytes_header(object) + (size_t)Py_TYPE(object)->tp_basicsize);
        } else { // a later root that reaches it past the bound does not count it again
            walk->failed |= marks_add(&walk->all, object) < 0;
        }
        walk->failed |= PyList_Append(walk->found, object) < 0;
        walk->failed |= arena_push(&walk->shut, object) < 0;
    } else {
        count(walk, object, own_bytes(object, &row->rule));
        walk->failed |= edges_has(object) && arena_push(&walk->open, object) < 0;
    }
    return walk->failed;
}

static int follow_function(PyFunctionObject *function, visitproc visit, void *arg) {
    Py_VISIT(function->func_closure);
    Py_VISIT(function->func_defaults);
    Py_VISIT(function->func_kwdefaults);
    Py_VISIT(function->func_dict);
    return 0;
}

static void follow(reached_walk *walk, PyObject *object) {
    walk->failed |= interrupt_step(&walk->watch);
    if (PyFunction_Check(object)) {
        follow_function((PyFunctionObject *)object, meet, walk);
    } else if (edges_has(object)) {
        edges_visit(object, meet, walk);
    }
}

// [leaves that the root holds] or, after `shut` ones are followed, those that only leaves hold. Owned.
static PyObject *drained(reached_walk *walk, int shut) {
    walk->found = PyList_New(0);
    walk->failed |= !walk->found;
    while (!walk->failed && (walk->open.used || (shut && walk->shut.used))) {
        follow(walk, arena_pop(walk->open.used ? &walk->open : &walk->shut));
    }
    return take(walk->found);
}

static PyObject *row_of_root(reached_walk *walk, PyObject *root) {
    if (walk->seen == &walk->root && marks_init(&walk->root) < 0) {
        return PyErr_NoMemory();
    }
    walk->start = root;
    walk->bytes = walk->fresh = walk->objects = 0;
    walk->found = PyList_New(0);
    walk->failed |= !walk->found;
    if (!walk->failed) {
        meet(root, walk);
    }
    _owned_ PyObject *own = take(walk->found);
    _owned_ PyObject *held = walk->failed ? NULL : drained(walk, 0);
    _owned_ PyObject *behind = walk->failed ? NULL : drained(walk, 1);
    if (walk->seen == &walk->root) {
        marks_deinit(&walk->root);
    }
    if (!behind || walk->failed || PyList_SetSlice(held, 0, 0, own) < 0) {
        return NULL;
    }
    return Py_BuildValue("nnnOO", walk->bytes, walk->fresh, walk->objects, held, behind);
}

static PyObject *types_met(tally *types) {
    _owned_ PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < types->capacity; i++) {
        tally_row *row = &types->rows[i];
        if (row->type && row->objects && PyList_Append(list, (PyObject *)row->type) < 0) {
            return NULL;
        }
    }
    return take(list);
}

static PyObject *rows_of_roots(PyObject *module, reached_walk *walk, PyObject *roots) {
    _still_ int began = still_begin();
    _owned_ PyObject *rows = PyList_New(0);
    for (Py_ssize_t i = 0; rows && i < PyTuple_GET_SIZE(roots); i++) {
        PyObject *root = subject_object(module, PyTuple_GET_ITEM(roots, i)); // borrowed
        if (!root || list_add(rows, row_of_root(walk, root)) < 0) {
            return NULL;
        }
    }
    _owned_ PyObject *types = rows ? types_met(&walk->types) : NULL;
    return types ? Py_BuildValue("OOO", rows, types, walk->left >= 0 ? Py_True : Py_False) : NULL;
}

static PyObject *reached_take(PyObject *module, PyObject *args) {
    PyObject *roots; // borrowed
    int once;
    reached_walk walk = {.failed = 0};
    if (!PyArg_ParseTuple(args, "O!O!O!nnp:reached", &PyTuple_Type, &roots, &PyTuple_Type, &walk.stops,
                          &PyTuple_Type, &walk.leaves, &walk.left, &walk.left_leaf, &once)) {
        return NULL;
    }
    walk.seen = once ? &walk.all : &walk.root;
    edges_prepare();
    if (marks_init(&walk.all) < 0) {
        return PyErr_NoMemory();
    }
    PyObject *found = rows_of_roots(module, &walk, roots); // owned
    marks_deinit(&walk.all);
    tally_deinit(&walk.types);
    arena_deinit(&walk.open.items);
    arena_deinit(&walk.shut.items);
    if (!found && !PyErr_Occurred()) {
        interrupt_raise(&walk.watch);
    }
    return found;
}

PART_FUNCTIONS(reached, {"reached", reached_take, METH_VARARGS, NULL})
