// What retained.c and never_freed.c share: the entries of a walk, and how their references are followed.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_RETAINED_GRAPH_H
#define INSPECTOR_RETAINED_GRAPH_H

#include "heap/beyond_rows.h"
#include "module/interrupt.h"
#include "objects/objects.h"

#define HELD ((Py_ssize_t)1 << 60) // more than any refcount: held without a look
#define START (-((Py_ssize_t)1 << 60))
#define NEVER_FREED (HELD + 1)

typedef struct {
    PyObject *object; // borrowed; of C++, if its lowest bit is set
    Py_ssize_t left;  // references not yet explained; START for a start object
} retained_entry;

typedef struct {
    arena entries;
    size_t used;
    arena table;          // of uint32_t: index + 1 of an entry, by address
    size_t slots;         // a power of two
    arena_stack open;     // objects whose references are still to be followed
    const beyond *beyond; // or NULL
    visitproc visit;      // of the walk that goes on
    interrupt_watch watch;
    int is_deferred_held; // what is not fully counted is held: a frame does not say what it holds
    int failed;           // memory ran out, or Ctrl-C
    uint32_t *seen;       // of never_freed.c, by entry
} retained_graph;

static inline int retained_is_native(const PyObject *object) { return (uintptr_t)object & 1; }

static inline const beyond_row *retained_row(const retained_graph *graph, const PyObject *object) {
    return graph->beyond ? beyond_find(graph->beyond, object) : NULL;
}

static inline retained_entry *retained_at(retained_graph *graph, size_t index) {
    return (retained_entry *)graph->entries.start + index;
}

// Where the number of an object's entry stands; 0 stands there if it has none.
static inline uint32_t *retained_slot(retained_graph *graph, PyObject *object) {
    uint32_t *table = graph->table.start;
    size_t i = (size_t)(((uintptr_t)object >> 4) * 0x9E3779B97F4A7C15ull >> 24) & (graph->slots - 1);
    while (table[i] && retained_at(graph, table[i] - 1)->object != object) {
        i = (i + 1) & (graph->slots - 1);
    }
    return &table[i];
}

// A visitproc: what has a row is owned by other rows.
static inline int retained_visit(PyObject *object, void *arg) {
    retained_graph *graph = arg;
    return retained_row(graph, object) ? 0 : graph->visit(object, graph);
}

static inline void retained_follow(retained_graph *graph, PyObject *object, visitproc visit) {
    const beyond_row *row = retained_row(graph, object);
    graph->visit = visit;
    if (!retained_is_native(object) && edges_has(object)) {
        edges_visit(object, row ? retained_visit : visit, graph);
    }
    for (uint64_t i = 0; row && i < row->count && !graph->failed; i++) {
        const uint64_t *references = graph->beyond->references.buf;
        visit((PyObject *)(uintptr_t)references[row->first + i], graph);
    }
}

// Marks as NEVER_FREED what would be retained, but that nothing frees once the start objects are deleted.
void never_freed(retained_graph *graph);

#endif
