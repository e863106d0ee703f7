// All objects that the collector tracks, from its lists.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "objects/objects.h"

// A list of the gc, from both ends to the middle.
typedef struct {
    PyGC_Head *ends[2]; // borrowed: the next to take
    int turn, is_over;
} gc_chase;

static PyGC_Head *chase(gc_chase *c) {
    if (c->is_over) {
        return NULL;
    }
    PyGC_Head *taken = c->ends[c->turn];
    c->is_over = c->ends[0] == c->ends[1];
    if (!c->is_over) {
        c->ends[c->turn] = c->turn ? compat_gc_previous(taken) : compat_gc_next(taken);
        __builtin_prefetch((char *)c->ends[c->turn] + 64);
    }
    c->turn ^= 1;
    return taken;
}

// Chasing a list is a cache miss an object: two chases, from both ends, wait for two at the same time, and
// run AHEAD objects before the look.
static int tracked_in(PyGC_Head *head, edges_look look, void *arg) {
    PyGC_Head *coming[EDGES_AHEAD]; // borrowed; round and round
    gc_chase c = {{compat_gc_next(head), compat_gc_previous(head)}, 0, compat_gc_next(head) == head};
    size_t left = 0;
    while (left < EDGES_AHEAD && (coming[left] = chase(&c))) {
        left++;
    }
    size_t held = left;
    for (size_t k = 0; left; k++) {
        PyObject *object = compat_gc_object(coming[k % held]);
        PyGC_Head *next = chase(&c);
        if (next) {
            coming[k % held] = next;
            edges_prefetch(compat_gc_object(coming[(k + held / 2) % held]));
        } else {
            left--;
        }
        int stop = look(object, arg);
        if (stop) {
            return stop;
        }
    }
    return 0;
}

int edges_each_tracked(edges_look look, void *arg) {
    struct _gc_runtime_state *gc = &PyInterpreterState_Get()->gc;
    for (int i = 0, stop; i < COMPAT_GC_LISTS; i++) {
        if ((stop = tracked_in(compat_gc_list(gc, i), look, arg))) {
            return stop;
        }
    }
    return 0;
}
