// What the roots reach: the loaded modules and the running frames, over all references (objects/edges.c).
//
// The data of large arrays of floats that are alive is not searched: it is most of many a process.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/leaks.h"
#include "leaks/lost/lost.h"
#include "objects/spans.h"

enum { NUMBERS_MAX = 4096, LEAST_NUMBER_BYTES = 1 << 20 };

// Nobody keeps an address as a float. Integers are another matter: some libraries do.
static int is_number_array(PyObject *object, data_span *ret) {
    return arrays_is(object) && spans_read(object, ret) && ret->flags & SPAN_OWNED &&
           (ret->kind == 'f' || ret->kind == 'c') && ret->span_bytes >= LEAST_NUMBER_BYTES;
}

static int meet(PyObject *object, void *argument) {
    lost_walk *w = argument;
    data_span span;
    int fresh = marks_add(&w->alive, object);
    if (fresh == 1 && edges_has(object)) {
        fresh = arena_push(&w->open, object);
        if (w->numbers.used < NUMBERS_MAX && is_number_array(object, &span)) {
            w->failed |= arena_push(&w->numbers, object) < 0;
        }
    }
    w->failed |= fresh < 0 || interrupt_step(&w->watch);
    return w->failed;
}

static void drain_alive(lost_walk *w) {
    while (w->open.used && !w->failed) {
        edges_visit(arena_pop(&w->open), meet, w);
    }
}

int lost_mark_alive(lost_walk *w, PyObject *args) {
    PyObject *modules = PyImport_GetModuleDict(); // borrowed
    if (marks_init(&w->alive) < 0 || marks_init(&w->owned) < 0) {
        return -1;
    }
    meet(modules, w);
    meet(args, w); // what calls us may hold them in a register only
    frames_each_reference(meet, w);
    drain_alive(w);
    return w->failed ? -1 : 0;
}

PyObject *lost_ranges_left_out(lost_walk *w, PyObject *leave_out /* borrowed */) {
    _owned_ PyObject *ranges = PySequence_List(leave_out);
    data_span span;
    for (size_t i = 0; ranges && i < w->numbers.used; i++) {
        if (is_number_array(((PyObject **)w->numbers.items.start)[i], &span) &&
            list_add(ranges, Py_BuildValue("(KK)", (unsigned long long)span.start,
                                           (unsigned long long)(span.start + span.span_bytes))) < 0) {
            return NULL;
        }
    }
    if (ranges) {
        meet(ranges, w);
        drain_alive(w);
    }
    return take(ranges);
}
