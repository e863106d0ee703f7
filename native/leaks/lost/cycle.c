// Whether a lost object leads to what holds it: then the two are a cycle, else it only goes with its holder.
//
// Followed are the references that objects/edges.c knows, and the words that the search found. After
// LOST_STEPS objects it counts as a cycle: no other is that large.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/lost/lost.h"
#include "memory/addresses.h"
#include "memory/memory.h"

enum { LOST_STEPS = 4096 };

static int meet(PyObject *object, void *argument) {
    lost_walk *w = argument;
    int fresh = marks_add(&w->met, object);
    w->failed |= fresh < 0 || (fresh == 1 && arena_push(&w->open, object) < 0);
    return w->failed;
}

static void meet_words(lost_walk *w, uintptr_t from) {
    size_t at = addresses_below(w->edges, w->sorted_edges, sizeof *w->edges, from);
    for (; at < w->sorted_edges && w->edges[at].from == from && !w->failed; at++) {
        meet((PyObject *)w->edges[at].to, w);
    }
}

static int walk(lost_walk *w, PyObject *from, PyObject *to) {
    meet(from, w);
    for (int steps = 0; w->open.used && !w->failed && !marks_has(&w->met, to); steps++) {
        PyObject *object = arena_pop(&w->open); // or a block
        const lost_node *node = lost_node_at(w, object);
        if (steps == LOST_STEPS) {
            return 1;
        }
        if (node) {
            lost_visit(w, node, meet, w);
        }
        meet_words(w, (uintptr_t)object);
    }
    return marks_has(&w->met, to);
}

int lost_leads_to(lost_walk *w, PyObject *from, PyObject *to) {
    if (marks_init(&w->met) < 0) {
        w->failed = 1;
        return 0;
    }
    int found = walk(w, from, to);
    marks_deinit(&w->met);
    w->open.used = 0;
    return found;
}

int lost_own_holder(const lost_node *node, lost_tell tell, void *argument) {
    uintptr_t word = node->start + sizeof(PyObject), held = 0;
    for (; word + sizeof held <= node->stop; word += sizeof held) {
        if (memory_read(word, &held, sizeof held) == sizeof held && held == node->start) {
            int is_told = lost_is_told(node->object, node->object);
            return is_told ? 0 : tell(node->object, (int64_t)(word - node->start), -1, argument);
        }
    }
    return 0;
}
