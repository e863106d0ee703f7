// Retained: what only one object (or every object of a type) keeps alive.
//
// The gc's own algorithm, on the part of the heap that the start objects reach. Every object there gets its
// refcount; every reference found inside takes one off. What is left over comes from outside: from the rest
// of the heap, from a frame, from C code. Objects with something left over are held, and so is all they
// reach without passing a start object. The others go when the start objects go: they are retained. Cycles
// need no care of their own, and references held in C count, because refcounts count everything.
//
// Bounds: an instance reaches its class, a class its functions, and those reach every module they name. So
// loaded modules and their namespaces are taken as held at once, and not followed: sys.modules holds them,
// whatever the start objects do, unless one of those is sys.modules or the module itself. Immortal objects
// are never retained; nor is what a frame holds without a count, in a CPython without the GIL. A reference
// that is not reported (objects/edges.c) leaves its object held: the answer may be too small, never too
// large.
//
// Beyond Python: a tensor owns C++ objects that are counted too, and those own others and objects of Python.
// An adapter reads them and hands over rows: address, count, the first of its references and their number.
// They are entries like objects, with the lowest bit of the address set. A row of an object of Python says
// what it owns besides; what has a row and is reached by tp_traverse is left out, because the rows say who
// owns it. `holders` keeps what the rows name alive meanwhile: a start object that is not counted.
//
// A retained object may still be one that nothing ever frees: never_freed.c.
//
// Memory: 16 bytes an object in order of arrival, which is also the queue, and 4 to 8 in the table that
// finds it by address, at most half full; both grow by doubling and are given back to the system at the end.
// Nothing changes meanwhile (module/still.h). All object pointers are borrowed.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "heap/census.h"
#include "heap/retained_graph.h"
#include "heap/tally.h"
#include "module/still.h"

#define AHEAD 8 // entries between a prefetch and the look

static int graph_grow(retained_graph *graph) {
    size_t slots = graph->slots ? graph->slots * 2 : 8192;
    arena_deinit(&graph->table);
    if (slots > UINT32_MAX || arena_resize(&graph->table, slots * sizeof(uint32_t)) < 0 ||
        arena_resize(&graph->entries, slots / 2 * sizeof(retained_entry)) < 0) {
        return -1;
    }
    graph->slots = slots;
    for (size_t i = 0; i < graph->used; i++) {
        *retained_slot(graph, retained_at(graph, i)->object) = (uint32_t)i + 1;
    }
    return 0;
}

// The entry of an object, made with this count if it has none; NULL when memory is out. The pointer is good
// until the next one is made.
static retained_entry *graph_entry(retained_graph *graph, PyObject *object, Py_ssize_t left) {
    if (graph->used * 2 >= graph->slots && graph_grow(graph) < 0) {
        graph->failed = 1;
        return NULL;
    }
    uint32_t *slot = retained_slot(graph, object);
    if (*slot) {
        return retained_at(graph, *slot - 1);
    }
    retained_entry *entry = retained_at(graph, graph->used++);
    *entry = (retained_entry){object, left};
    *slot = (uint32_t)graph->used;
    return entry;
}

static void graph_deinit(retained_graph *graph) {
    arena_deinit(&graph->entries);
    arena_deinit(&graph->table);
    arena_deinit(&graph->open.items);
}

// Loaded modules and their namespaces are held by the interpreter. Start objects keep their entries.
static void hold_modules(retained_graph *graph) {
    PyObject *modules = PyImport_GetModuleDict(); // borrowed
    PyObject *name, *module;                      // borrowed
    Py_ssize_t position = 0;
    if (!modules || !PyDict_CheckExact(modules)) {
        return;
    }
    retained_entry *all = graph_entry(graph, modules, HELD);
    if (!all || all->left == START) {
        return;
    }
    while (PyDict_Next(modules, &position, &name, &module)) {
        if (!PyModule_Check(module)) {
            continue;
        }
        retained_entry *entry = graph_entry(graph, module, HELD);
        PyObject *dict = PyModule_GetDict(module); // borrowed
        if (entry && entry->left != START && dict) {
            graph_entry(graph, dict, HELD);
        }
    }
}

// A visitproc.
static int hold(PyObject *object, void *arg) {
    retained_graph *graph = arg;
    graph_entry(graph, object, HELD);
    return graph->failed;
}

static Py_ssize_t references_of(const retained_graph *graph, PyObject *object) {
    if (retained_is_native(object)) {
        const beyond_row *row = retained_row(graph, object);
        return row ? (Py_ssize_t)row->references : HELD;
    }
    if (compat_is_immortal(object) || (graph->is_deferred_held && compat_is_deferred(object))) {
        return HELD;
    }
    return deferred_references(object);
}

// A visitproc: one reference from inside is explained.
static int explain(PyObject *object, void *arg) {
    retained_graph *graph = arg;
    retained_entry *entry = graph_entry(graph, object, references_of(graph, object));
    if (entry && entry->left != START && entry->left < HELD / 2) {
        entry->left--;
    }
    return graph->failed;
}

static void explain_all(retained_graph *graph) {
    for (size_t i = 0; i < graph->used && !graph->failed; i++) {
        graph->failed |= interrupt_step(&graph->watch);
        retained_entry entry = *retained_at(graph, i);
        if (i + AHEAD < graph->used) {
            __builtin_prefetch(retained_at(graph, i + AHEAD)->object);
        }
        if (entry.left < HELD / 2) {
            retained_follow(graph, entry.object, explain);
        }
    }
}

// A visitproc: what a held object refers to is held.
static int keep(PyObject *object, void *arg) {
    retained_graph *graph = arg;
    uint32_t slot = *retained_slot(graph, object);
    retained_entry *entry = slot ? retained_at(graph, slot - 1) : NULL;
    if (entry && entry->left <= 0 && entry->left != START) {
        entry->left = 1;
        graph->failed |= arena_push(&graph->open, object) < 0;
    }
    return graph->failed;
}

// What an object held without a look refers to was never explained, so it needs no following.
static void keep_all(retained_graph *graph) {
    for (size_t i = 0; i < graph->used && !graph->failed; i++) {
        retained_entry *entry = retained_at(graph, i);
        if (entry->left > 0 && entry->left < HELD / 2) {
            graph->failed |= arena_push(&graph->open, entry->object) < 0;
        }
        while (graph->open.used && !graph->failed) {
            PyObject *object = arena_pop(&graph->open);
            graph->failed |= interrupt_step(&graph->watch);
            retained_follow(graph, object, keep);
        }
    }
}

static int graph_solve(retained_graph *graph) {
    hold_modules(graph);
    graph->is_deferred_held = deferred_each_uncounted(hold, graph);
    explain_all(graph);
    keep_all(graph);
    return graph->failed ? -1 : 0;
}

// Whether references exist that the gc does not see: nothing frees a cycle through them.
static int may_be_lost(retained_graph *graph) {
    for (size_t i = 0; i < graph->used && !graph->beyond; i++) {
        retained_entry *entry = retained_at(graph, i);
        if (entry->left <= 0 && !retained_is_native(entry->object) && arrays_has_objects(entry->object)) {
            return 1;
        }
    }
    return graph->beyond != NULL;
}

// Objects of Python by type, those of C++ as addresses in `natives`: of what is retained, or never freed.
static int count_entries(retained_graph *graph, int is_lost, tally *counts, PyObject *natives /* or NULL */) {
    for (size_t i = 0; i < graph->used; i++) {
        retained_entry *entry = retained_at(graph, i);
        int is_asked = is_lost ? entry->left == NEVER_FREED : entry->left <= 0;
        if (!is_asked || (graph->beyond && entry->object == graph->beyond->holders)) {
            continue;
        }
        if (retained_is_native(entry->object)) {
            if (natives && list_add(natives, PyLong_FromVoidPtr(entry->object)) < 0) {
                return -1;
            }
            continue;
        }
        tally_row *row = tally_find(counts, Py_TYPE(entry->object));
        if (!row) {
            return -1;
        }
        tally_add(row, entry->object);
    }
    return 0;
}

// Types with objects and bytes of the entries that count_entries counts.
static PyObject *sums_of(retained_graph *graph, int is_lost, PyObject *natives) {
    tally counts = {.used = 0};
    PyObject *rows = NULL; // owned
    if (count_entries(graph, is_lost, &counts, natives) == 0) {
        rows = tally_list(&counts);
    }
    tally_deinit(&counts);
    return rows;
}

static PyObject *retained_of(PyObject *object, const beyond *of, interrupt_watch *ret) {
    _still_ int began = still_begin();
    retained_graph graph = {.beyond = of->holders ? of : NULL};
    graph_entry(&graph, object, START);
    if (of->holders) {
        graph_entry(&graph, of->holders, START);
    }
    if (!graph.failed && graph_solve(&graph) == 0 && may_be_lost(&graph)) {
        never_freed(&graph);
    }
    _owned_ PyObject *natives = PyList_New(0), *lost_natives = PyList_New(0);
    int solved = natives && lost_natives && !graph.failed;
    _owned_ PyObject *rows = solved ? sums_of(&graph, 0, natives) : NULL;
    _owned_ PyObject *lost = rows ? sums_of(&graph, 1, lost_natives) : NULL;
    size_t extra = graph.entries.bytes + graph.table.bytes + graph.open.items.bytes;
    size_t looked_at = graph.used;
    graph_deinit(&graph);
    *ret = graph.watch;
    return lost ? Py_BuildValue("OnnOOO", rows, (Py_ssize_t)looked_at, (Py_ssize_t)extra, natives, lost,
                                lost_natives)
                : NULL;
}

static PyObject *retained_take(PyObject *module, PyObject *args) {
    PyObject *maybe_subject; // borrowed
    beyond of = {.holders = NULL};
    if (!PyArg_ParseTuple(args, "O|y*y*O!:retained", &maybe_subject, &of.rows, &of.references, &PyList_Type,
                          &of.holders)) {
        return NULL;
    }
    PyObject *object = subject_object(module, maybe_subject); // borrowed
    PyObject *found = NULL;                                   // owned
    if (object && of.holders && !beyond_fits(&of)) {
        PyErr_SetString(PyExc_ValueError, "references beyond their end");
    } else if (object) {
        interrupt_watch watch;
        edges_prepare();
        found = retained_of(object, &of, &watch);
        if (!found && !PyErr_Occurred()) {
            interrupt_raise(&watch);
        }
    }
    PyBuffer_Release(&of.rows);
    PyBuffer_Release(&of.references);
    return found;
}

// Bytes that go with all these objects; -1 without an exception.
static Py_ssize_t retained_bytes(arena_stack *start, interrupt_watch *ret) {
    retained_graph graph = {.failed = 0};
    tally counts = {.used = 0};
    Py_ssize_t bytes = -1;
    while (start->used && !graph.failed) {
        graph_entry(&graph, arena_pop(start), START);
    }
    if (!graph.failed && graph_solve(&graph) == 0 && count_entries(&graph, 0, &counts, NULL) == 0) {
        bytes = 0;
        for (size_t i = 0; i < counts.capacity; i++) {
            bytes += counts.rows[i].bytes;
        }
    }
    graph_deinit(&graph);
    tally_deinit(&counts);
    *ret = graph.watch;
    return bytes;
}

static PyObject *retained_list(PyObject *names, PyObject *ours, arena_stack *found, interrupt_watch *ret) {
    _still_ int began = still_begin();
    if (census_collect(ours, names, found, ret) < 0) {
        return NULL;
    }
    _owned_ PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list && i < PyTuple_GET_SIZE(names); i++) {
        Py_ssize_t bytes = retained_bytes(&found[i], ret);
        arena_deinit(&found[i].items);
        if (list_add(list, bytes < 0 ? NULL : PyLong_FromSsize_t(bytes)) < 0) {
            return NULL;
        }
    }
    return take(list);
}

static PyObject *retained_by_types(PyObject *module, PyObject *args) {
    PyObject *names, *ours; // borrowed
    if (!PyArg_ParseTuple(args, "O!O!:retained_by_types", &PyTuple_Type, &names, &PyTuple_Type, &ours)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(names, i))) {
            return PyErr_Format(PyExc_TypeError, "names must be strings");
        }
    }
    size_t count = (size_t)PyTuple_GET_SIZE(names);
    _free_ arena_stack *found = calloc(count + 1, sizeof(arena_stack));
    if (!found) {
        return PyErr_NoMemory();
    }
    interrupt_watch watch;
    edges_prepare();
    PyObject *list = retained_list(names, ours, found, &watch); // owned
    for (size_t i = 0; i < count; i++) {
        arena_deinit(&found[i].items);
    }
    if (!list && !PyErr_Occurred()) {
        interrupt_raise(&watch);
    }
    return list;
}

PART_FUNCTIONS(retained, {"retained", retained_take, METH_VARARGS, NULL},
               {"retained_by_types", retained_by_types, METH_VARARGS, NULL})
