// Which call from Python moves the counts of objects that are named: an account of each object and function.
//
// leaks/unexplained.c knows that the references of an object grow with every run, not by what. Here the code
// runs once more, and at each call through a patched pointer the counts of a few objects are compared before
// and after. Explained are the references that the result or the exception holds, those that `self` holds
// more or less than before (tp_traverse, two levels deep; its words where the type has none), and what calls
// within this call were charged. A call that ends an object explains what this one held. The rest is charged
// to the function. Sums are told; who is to blame is decided above.
//
// The open calls lie in an array and not on the C stack, which greenlet moves. Calls of other threads, and
// those deeper than DEPTH_MAX, are not looked at.
// SPDX-License-Identifier: MIT
#include "objects/objects.h"
#include "trace/arm/calls.h"
#include "trace/record/convention.h"

enum { CHARGED_MAX = 16, DEPTH_MAX = 128, ROWS_MAX = 1024, FOLLOWED = 2 };

typedef struct {
    Py_ssize_t of[CHARGED_MAX];
} counts;

typedef struct {
    uint32_t number, object;
    Py_ssize_t sum;
} charge;

static PyObject *charged[CHARGED_MAX]; // owned while open
static int charged_count;
static counts inner[DEPTH_MAX]; // what calls within an open one were charged
static int depth;
static unsigned long thread;
static charge charges[ROWS_MAX];
static uint32_t charge_count;

typedef struct {
    counts *into;
    int level;
} walk;

static int visit(PyObject *object, void *argument);

// Adds the references that an object holds to the charged ones.
static void add_held(PyObject *object, walk inside) {
    if (edges_has(object)) {
        edges_visit(object, visit, &inside);
        return;
    }
    uintptr_t *words = (uintptr_t *)object;
    size_t count = (size_t)Py_TYPE(object)->tp_basicsize / sizeof *words;
    for (size_t i = offsetof(PyObject, ob_type) / sizeof *words; i < count; i++) {
        for (int k = 0; k < charged_count; k++) {
            inside.into->of[k] += words[i] == (uintptr_t)charged[k];
        }
    }
}

static int visit(PyObject *object, void *argument) {
    walk *at = argument;
    for (int i = 0; i < charged_count; i++) {
        if (object == charged[i]) {
            at->into->of[i]++;
            return 0;
        }
    }
    if (at->level < FOLLOWED && object && Py_TYPE(object) && compat_refcount(object) == 1) {
        add_held(object, (walk){at->into, at->level + 1});
    }
    return 0;
}

static void count_all(counts *ret) {
    for (int i = 0; i < charged_count; i++) {
        ret->of[i] = compat_refcount(charged[i]);
    }
}

static void charge_add(uint32_t number, int object, Py_ssize_t change) {
    uint32_t i = 0;
    while (i < charge_count && (charges[i].number != number || charges[i].object != (uint32_t)object)) {
        i++;
    }
    if (i == charge_count && i < ROWS_MAX) {
        charges[charge_count++] = (charge){number, (uint32_t)object, 0};
    }
    if (i < ROWS_MAX) {
        charges[i].sum += change;
    }
}

static void leave(const int *at) {
    if (*at < depth) {
        depth = *at;
    }
}

// A method's object, whose fields may keep and drop references; NULL for a module, a class or a vectorcall.
static PyObject *self_of(const calls_called *called, uintptr_t word) {
    PyObject *self = (PyObject *)word; // borrowed
    int has_none = called->convention == CALL_VECTOR || !self;
    return has_none || PyModule_CheckExact(self) || PyType_Check(self) ? NULL : self;
}

static uintptr_t charges_call(const calls_called *called, const uintptr_t words[5]) {
    if (depth >= DEPTH_MAX || PyThread_get_thread_ident() != thread) {
        return called->original(words[0], words[1], words[2], words[3], words[4]);
    }
    const int at __attribute__((cleanup(leave))) = depth++;
    int ends = called->convention == CALL_DEALLOC;
    PyObject *self = self_of(called, words[0]);
    counts before = {0}, after = {0}, held = {0}, explained = {0};
    inner[at] = (counts){0};
    if (self) {
        add_held(self, (walk){&held, 0});
    }
    count_all(&before);
    uintptr_t result = called->original(words[0], words[1], words[2], words[3], words[4]);
    if (!charged_count || depth < at) { // closed meanwhile
        return result;
    }
    count_all(&after);
    if (self && !ends && compat_refcount(self) > 0) {
        add_held(self, (walk){&explained, 0});
    }
    PyObject *handed = call_handed(called->convention, words, result); // borrowed
    if (handed) {
        visit(handed, &(walk){&explained, 0});
    }
    PyObject *raised = PyErr_Occurred() ? compat_raised(PyThreadState_Get()) : NULL; // borrowed
    if (raised) {
        visit(raised, &(walk){&explained, 0});
    }
    for (int i = 0; i < charged_count; i++) {
        Py_ssize_t own = after.of[i] - before.of[i] - inner[at].of[i] - (explained.of[i] - held.of[i]);
        if (own) {
            charge_add(called->number, i, own);
        }
        if (at) {
            inner[at - 1].of[i] += own + inner[at].of[i];
        }
    }
    return result;
}

static PyObject *charges_open(PyObject *module, PyObject *subjects) {
    if (!PyList_CheckExact(subjects) || PyList_GET_SIZE(subjects) > CHARGED_MAX || charged_count ||
        calls_watcher) {
        return PyErr_Format(PyExc_ValueError, "a list of at most %d subjects, once at a time", CHARGED_MAX);
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(subjects); i++) {
        PyObject *object = subject_object(module, PyList_GET_ITEM(subjects, i)); // borrowed
        if (!object) {
            return NULL;
        }
        charged[i] = Py_NewRef(object);
    }
    depth = 0;
    charge_count = 0;
    thread = PyThread_get_thread_ident();
    charged_count = (int)PyList_GET_SIZE(subjects);
    calls_watches_ends = 1;
    calls_watcher = charges_call;
    Py_RETURN_NONE;
}

static PyObject *charges_close(PyObject *module, PyObject *unused) {
    calls_watcher = NULL;
    calls_watches_ends = 0;
    for (int i = 0; i < charged_count; i++) {
        Py_CLEAR(charged[i]);
    }
    charged_count = 0;
    _owned_ PyObject *rows = PyList_New(0);
    for (uint32_t i = 0; rows && i < charge_count; i++) {
        const charge *one = &charges[i];
        if (one->sum && list_add(rows, Py_BuildValue("(IIn)", one->number, one->object, one->sum)) < 0) {
            return NULL;
        }
    }
    charge_count = 0;
    return take(rows);
}

PART_FUNCTIONS(charges, {"charges_open", charges_open, METH_O, NULL},
               {"charges_close", charges_close, METH_NOARGS, NULL})
