// Census: how many objects of each type live, and their own bytes.
//
// The gc's lists are walked as they are (each generation and the permanent one). Objects that are in no
// list (str, int, code, an untracked tuple) are found by asking each listed object and each running frame
// what it refers to, and counted once by a bitmap over the address space. A linked list costs a cache miss an
// object, a reference another one; so the chase along the list runs ahead of the look, and references wait
// in a short queue between the prefetch of their header and the look at it.
//
// Consistency: nothing changes from the first object to the last (module/still.h). No gc object is made, no
// refcount of a counted object changes. The rows are kept in C memory; only afterwards do the types get
// references and the answer its Python objects.
//
// What is not counted: objects that nothing the gc knows refers to (held by C alone), and objects whose
// holder does not report them to the gc. Objects of the types in `ours` (the tool's own facts) are left
// out and not followed; the tuples that only they hold are in the gc's lists and are taken out at the end.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "heap/census.h"
#include "heap/tally.h"
#include "memory/marks.h"
#include "module/interrupt.h"
#include "module/still.h"
#include "objects/objects.h"

#define LAG 32 // references in flight; a power of two
#define OURS 1
#define THEIRS 2
#define WANTED 3 // the first wanted name's mark

typedef struct {
    marks seen;
    tally counts;
    PyObject *ours;         // borrowed tuple of types
    PyObject *wanted;       // borrowed tuple of type names, or NULL
    arena_stack *found;     // the objects of each wanted name
    census_look look;       // or NULL
    void *argument;         // of `look`
    PyObject *waiting[LAG]; // borrowed
    size_t first, next;     // of waiting; they only grow
    arena_stack open;       // counted objects whose references are still to be followed
    arena_stack own;        // objects of our types
    Py_ssize_t tracked;
    interrupt_watch watch;
    int failed; // memory ran out, or Ctrl-C
} census;

static int is_ours(PyObject *ours, PyTypeObject *type) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(ours); i++) {
        if (PyTuple_GET_ITEM(ours, i) == (PyObject *)type) {
            return 1;
        }
    }
    return 0;
}

static int is_wanted(PyObject *wanted, PyTypeObject *type) {
    _owned_ PyObject *name = wanted ? layout_type_name(type) : NULL;
    for (Py_ssize_t i = 0; name && i < PyTuple_GET_SIZE(wanted); i++) {
        if (PyUnicode_Compare(name, PyTuple_GET_ITEM(wanted, i)) == 0) {
            return WANTED + (int)i;
        }
    }
    PyErr_Clear();
    return THEIRS;
}

static tally_row *row_of(census *c, PyTypeObject *type) {
    tally_row *row = tally_find(&c->counts, type);
    if (!row) {
        c->failed = 1;
    } else if (!row->mark) {
        row->mark = is_ours(c->ours, type) ? OURS : is_wanted(c->wanted, type);
    }
    return row;
}

static void push(census *c, arena_stack *stack, PyObject *object) {
    if (arena_push(stack, object) < 0) {
        c->failed = 1;
    }
}

// Counts one object; returns 1 where its references are to be followed.
static int count(census *c, PyObject *object) {
    tally_row *row = row_of(c, Py_TYPE(object));
    if (!row) {
        return 0;
    }
    if (row->mark == OURS) {
        push(c, &c->own, object);
        return 0;
    }
    if (row->mark >= WANTED) {
        push(c, &c->found[row->mark - WANTED], object);
    }
    tally_add(row, object);
    if (c->look && c->look(object, &row->rule, c->argument) < 0) {
        c->failed = 1;
    }
    return 1;
}

// A referred-to object, its header prefetched: objects in the gc's lists are counted there.
static void settle(census *c, PyObject *object) {
    if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HAVE_GC) && PyObject_IS_GC(object) &&
        compat_gc_tracked(object)) {
        return;
    }
    if (count(c, object) && edges_has(object)) {
        push(c, &c->open, object);
    }
}

// A visitproc. The mark comes before the look: an object referred to a thousand times is looked at once,
// and its header is not read before it had time to arrive from memory.
static int meet(PyObject *object, void *arg) {
    census *c = arg;
    int fresh = marks_add(&c->seen, object);
    if (fresh < 1) {
        c->failed |= fresh < 0;
        return 0;
    }
    __builtin_prefetch(object);
    if (c->next - c->first == LAG) {
        settle(c, c->waiting[c->first++ % LAG]);
    }
    c->waiting[c->next++ % LAG] = object;
    return 0;
}

// Follows what was met until nothing waits. Depth costs heap memory, never C stack.
static void drain(census *c) {
    do {
        while (c->first != c->next) {
            settle(c, c->waiting[c->first++ % LAG]);
        }
        if (c->open.used) {
            c->failed |= interrupt_step(&c->watch);
            edges_visit(arena_pop(&c->open), meet, c);
        }
    } while (!c->failed && (c->first != c->next || c->open.used));
}

// What stands open is followed at once, so that the stack stays as small as the untracked part below an
// object.
static int walk_tracked(PyObject *object, void *argument) {
    census *c = argument;
    c->tracked++;
    c->failed |= interrupt_step(&c->watch);
    if (count(c, object)) {
        edges_visit(object, meet, c);
    }
    if (c->open.used) {
        drain(c);
    }
    return c->failed;
}

static int is_counted(census *c, PyObject *object) {
    if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HAVE_GC) && compat_gc_tracked(object)) {
        return 1;
    }
    return marks_has(&c->seen, object);
}

// Takes out a tuple that only an object of ours holds, and in turn what only that tuple holds.
static int forget(PyObject *object, void *arg) {
    census *c = arg;
    int plain = PyTuple_CheckExact(object) || PyUnicode_CheckExact(object) || PyLong_CheckExact(object);
    if (!plain || compat_is_immortal(object) || Py_REFCNT(object) != 1 || !is_counted(c, object)) {
        return 0;
    }
    tally_row *row = row_of(c, Py_TYPE(object));
    if (row) {
        row->objects--;
        row->bytes -= (Py_ssize_t)own_bytes(object, &row->rule);
    }
    if (PyTuple_CheckExact(object)) {
        push(c, &c->own, object);
    }
    return 0;
}

static void forget_ours(census *c) {
    while (c->own.used && !c->failed) {
        PyObject *object = arena_pop(&c->own);
        if (edges_has(object)) {
            edges_visit(object, forget, c);
        }
    }
}

static void census_deinit(census *c) {
    marks_deinit(&c->seen);
    tally_deinit(&c->counts);
    arena_deinit(&c->open.items);
    arena_deinit(&c->own.items);
}

// The walk itself; the caller has switched the gc off, and ends with census_deinit. 0, or -1: out of memory,
// or interrupted.
static int census_run(census *c) {
    if (marks_init(&c->seen) < 0) {
        return -1;
    }
    edges_each_tracked(walk_tracked, c);
    frames_each_reference(meet, c); // as alive as what listed objects refer to
    drain(c);
    forget_ours(c);
    return c->failed ? -1 : 0;
}

int census_collect(PyObject *ours, PyObject *wanted, arena_stack *found, interrupt_watch *ret) {
    census c = {.ours = ours, .wanted = wanted, .found = found};
    int result = census_run(&c);
    census_deinit(&c);
    *ret = c.watch;
    return result;
}

int census_each(PyObject *ours, census_look look, void *argument, interrupt_watch *ret) {
    census c = {.ours = ours, .look = look, .argument = argument};
    int result = census_run(&c);
    census_deinit(&c);
    *ret = c.watch;
    return result;
}

static PyObject *census_rows(census *c) {
    _still_ int began = still_begin();
    uint64_t begin = clock_now_ns();
    int result = census_run(c);
    long long elapsed = (long long)(clock_now_ns() - begin);
    size_t extra = marks_bytes(&c->seen) + c->counts.table.bytes + c->open.items.bytes;
    PyObject *rows = result < 0 ? NULL : tally_list(&c->counts); // owned
    census_deinit(c);
    return rows ? Py_BuildValue("NnLn", rows, c->tracked, elapsed, (Py_ssize_t)extra) : NULL;
}

static PyObject *census_take(PyObject *module, PyObject *ours) {
    if (!PyTuple_CheckExact(ours)) {
        return PyErr_Format(PyExc_TypeError, "census() takes a tuple of types");
    }
    census c = {.ours = ours};
    edges_prepare();
    PyObject *rows = census_rows(&c); // owned
    if (!rows && !PyErr_Occurred()) {
        interrupt_raise(&c.watch);
    }
    return rows;
}

PART_FUNCTIONS(census, {"census", census_take, METH_O, NULL})
