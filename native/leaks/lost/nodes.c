// The objects that no walk from the roots met, by address; and what one of them refers to.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/lost/lost.h"
#include "memory/addresses.h"

lost_node *lost_node_at(const lost_walk *w, const void *object) {
    ptrdiff_t at = addresses_find(w->nodes, w->node_count, sizeof *w->nodes, (uintptr_t)object);
    return at >= 0 && w->nodes[at].start == (uintptr_t)object ? &w->nodes[at] : NULL;
}

typedef struct {
    PyObject *object; // borrowed
    visitproc visit;
    void *argument;
} guarded_visit;

static void visit_body(void *argument) {
    const guarded_visit *v = argument;
    PyObject *bytes = compat_bytearray_holds(v->object); // borrowed
    if (edges_has(v->object)) {
        edges_visit(v->object, v->visit, v->argument);
    } else if (bytes) {
        v->visit(bytes, v->argument);
    }
}

void lost_visit(lost_walk *w, const lost_node *node, visitproc visit, void *argument) {
    guarded_visit v = {node->object, visit, argument};
    if (node->is_certain) {
        visit_body(&v);
    } else {
        memory_guarded(visit_body, &v);
    }
}

lost_block *lost_block_at(const lost_walk *w, uintptr_t start) {
    ptrdiff_t at = addresses_find(w->blocks, w->sorted_blocks, sizeof *w->blocks, start);
    return at >= 0 && w->blocks[at].start == start ? &w->blocks[at] : NULL;
}

typedef struct {
    PyObject *holder, *target; // borrowed
    long visits;
} told_question;

static void visits_body(void *argument) {
    told_question *q = argument;
    q->visits = search_visits(q->holder, q->target);
}

int lost_is_told(PyObject *holder, PyObject *target) {
    told_question q = {.holder = holder, .target = target};
    int is_tracked = PyObject_IS_GC(holder) && compat_gc_tracked(holder);
    return is_tracked && memory_guarded(visits_body, &q) == 0 && q.visits > 0;
}
