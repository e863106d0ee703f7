// Never freed: what only the start objects keep, and what stays nevertheless when they are deleted.
//
// A cycle through references that no tp_traverse tells of outlives every collection: a node of torch's graph
// that holds, through a hook, the tensor that it made; an array of objects that is an element of itself. So
// the deletion is played through on the counts of the retained objects: first what loses its last reference
// goes, with what it alone refers to; then, as in a collection, the objects of Python that only each other
// refer to, as tp_traverse tells; and so on until nothing more goes. What is left then is never freed.
//
// Counts are of references between retained objects: they have no others. An object of C++ and the object of
// Python that wraps it own each other while something else refers to the one of C++; when that is over, the
// reference to the wrapper is given up (PyObject preservation, c10/core/impl/PyObjectSlot.h).
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "heap/retained_graph.h"

#define LIVE (START / 2) // of a retained object without references; each adds one
#define GONE START

static int lives(const retained_entry *entry) { return entry->left >= LIVE && entry->left <= 0; }

static retained_entry *living(retained_graph *graph, PyObject *object) {
    uint32_t slot = *retained_slot(graph, object);
    retained_entry *entry = slot ? retained_at(graph, slot - 1) : NULL;
    return entry && lives(entry) ? entry : NULL;
}

// A visitproc: one reference from a retained object.
static int count(PyObject *object, void *arg) {
    retained_graph *graph = arg;
    retained_entry *entry = living(graph, object);
    if (entry) {
        entry->left++;
    }
    return 0;
}

static int drop(PyObject *object, void *arg);

static void drop_wrapper(retained_graph *graph, PyObject *object) {
    const beyond_row *row = retained_row(graph, object);
    const uint64_t *references = graph->beyond->references.buf;
    for (uint64_t i = 0; row && i < row->count; i++) {
        PyObject *owned = (PyObject *)(uintptr_t)references[row->first + i];
        const beyond_row *back = retained_is_native(owned) ? NULL : retained_row(graph, owned);
        for (uint64_t j = 0; back && j < back->count; j++) {
            if (references[back->first + j] == (uintptr_t)object) {
                drop(owned, graph);
                break;
            }
        }
    }
}

// A visitproc: one reference less; what has none left is to be freed.
static int drop(PyObject *object, void *arg) {
    retained_graph *graph = arg;
    retained_entry *entry = living(graph, object);
    if (entry && entry->left > LIVE) {
        entry->left--;
        if (entry->left == LIVE) {
            graph->failed |= arena_push(&graph->open, object) < 0;
        } else if (entry->left == LIVE + 1 && retained_is_native(object)) {
            drop_wrapper(graph, object);
        }
    }
    return graph->failed;
}

static void free_open(retained_graph *graph) {
    while (graph->open.used && !graph->failed) {
        PyObject *object = arena_pop(&graph->open);
        graph->failed |= interrupt_step(&graph->watch);
        retained_at(graph, *retained_slot(graph, object) - 1)->left = GONE;
        retained_follow(graph, object, drop);
    }
}

static void begin(retained_graph *graph) {
    for (size_t i = 0; i < graph->used; i++) {
        retained_entry *entry = retained_at(graph, i);
        int is_ours = graph->beyond && entry->object == graph->beyond->holders;
        entry->left = entry->left > 0 ? entry->left : is_ours ? GONE : LIVE;
    }
    for (size_t i = 0; i < graph->used && !graph->failed; i++) {
        if (lives(retained_at(graph, i))) {
            retained_follow(graph, retained_at(graph, i)->object, count);
        }
    }
    for (size_t i = 0; i < graph->used && !graph->failed; i++) {
        if (retained_at(graph, i)->left == LIVE) {
            graph->failed |= arena_push(&graph->open, retained_at(graph, i)->object) < 0;
        }
    }
}

// The gc's two passes. In `seen`: 0 is no container of the gc's, 1 one whose references are all explained.
static int explain(PyObject *object, void *arg) {
    retained_graph *graph = arg;
    uint32_t slot = *retained_slot(graph, object);
    if (slot && graph->seen[slot - 1] > 1) {
        graph->seen[slot - 1]--;
    }
    return 0;
}

static int reach(PyObject *object, void *arg) {
    retained_graph *graph = arg;
    uint32_t slot = *retained_slot(graph, object);
    if (slot && graph->seen[slot - 1] == 1) {
        graph->seen[slot - 1] = 2;
        graph->failed |= arena_push(&graph->open, object) < 0;
    }
    return graph->failed;
}

static int is_container(PyObject *object) {
    return !retained_is_native(object) && PyObject_IS_GC(object) && compat_gc_tracked(object);
}

static void mark_garbage(retained_graph *graph) {
    for (size_t i = 0; i < graph->used; i++) {
        retained_entry *entry = retained_at(graph, i);
        int asked = lives(entry) && is_container(entry->object);
        graph->seen[i] = asked ? (uint32_t)(entry->left - LIVE) + 1 : 0;
    }
    for (size_t i = 0; i < graph->used && !graph->failed; i++) {
        graph->failed |= interrupt_step(&graph->watch);
        if (graph->seen[i]) {
            edges_traverse(retained_at(graph, i)->object, explain, graph);
        }
    }
    for (size_t i = 0; i < graph->used && !graph->failed; i++) {
        if (graph->seen[i] > 1) {
            edges_traverse(retained_at(graph, i)->object, reach, graph);
        }
        while (graph->open.used && !graph->failed) {
            edges_traverse(arena_pop(&graph->open), reach, graph);
        }
    }
}

// Whether a collection frees something: all of it is gone before its references are dropped.
static int collect(retained_graph *graph) {
    int found = 0;
    mark_garbage(graph);
    for (size_t i = 0; i < graph->used && !graph->failed; i++) {
        if (graph->seen[i] == 1) {
            retained_at(graph, i)->left = GONE;
            graph->failed |= arena_push(&graph->open, retained_at(graph, i)->object) < 0;
            found = 1;
        }
    }
    return found;
}

void never_freed(retained_graph *graph) {
    arena seen = {NULL, 0};
    if (graph->failed || arena_resize(&seen, graph->used * sizeof(uint32_t)) < 0) {
        graph->failed = 1;
        return;
    }
    graph->seen = seen.start;
    begin(graph);
    do {
        free_open(graph);
    } while (!graph->failed && collect(graph));
    for (size_t i = 0; i < graph->used; i++) {
        retained_entry *entry = retained_at(graph, i);
        entry->left = lives(entry) ? NEVER_FREED : entry->left;
    }
    arena_deinit(&seen);
}
