// Lost objects: alive, reached from no root, and freed by no collection.
//
// First a walk from the loaded modules and the running frames over all references (alive.c) marks what is
// alive. The census knows every object that the collector tracks, and what these refer to; a search
// for the addresses of their types finds the others. Those without a mark are the nodes.
//
// Most nodes are held by C: static data, stacks, C structs. search.c finds these holders in memory.
//
// What is left is garbage, or lost. As in the collector: each tracked node gets its count, and tp_traverse of
// each tracked node takes one off for what it visits. A node with something left is freed by no collection,
// nor is what it refers to. The rest is garbage that the next collection frees.
//
// The references left over are told: hidden holders, which hold the address and do not visit it, by where the
// word lies; and references that nothing holds, which C code took and lost.
//
// Nothing here changes an object: no collection runs, and all pointers are borrowed until the result is made,
// whose Subjects hold theirs. The GIL is held and the gc is off throughout.
//
// Limits. A word that may be a pointer counts as one, so that some lost objects are not found; an address
// that is no plain word at a multiple of eight is not seen, and the caller says so.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/lost/lost.h"
#include "heap/census.h"
#include "heap/tally.h"
#include "leaks/leaks.h"
#include "memory/addresses.h"
#include "objects/spans.h"

enum { ROWS_MAX = 1024, LEAST_NODE_BYTES = 16 };
#define LOST_SCRATCH_BYTES ((size_t)1 << 32) // address space; only what is filled becomes resident

// --- nodes: the others ---

static int add_type(lost_walk *w, PyTypeObject *type) {
    int fresh = marks_add(&w->known, type);
    return fresh == 1 ? arena_push(&w->types, type) : fresh;
}

static int look(PyObject *object, const own_bytes_rule *rule, void *argument) {
    lost_walk *w = argument;
    if (add_type(w, Py_TYPE(object)) < 0 ||
        (PyType_Check(object) && add_type(w, (PyTypeObject *)object) < 0)) {
        return -1;
    }
    int is_lost = !marks_has(&w->alive, object) && !compat_is_immortal(object);
    return is_lost ? arena_push(&w->open, object) : 0;
}

// Moves what `open` holds to the nodes: a search would find the addresses in it.
static int settle_nodes(lost_walk *w, int is_certain, scratch *memory) {
    size_t count = w->node_count + w->open.used;
    lost_node *nodes = scratch_alloc(memory, (count + 1) * sizeof *nodes);
    if (!nodes) {
        return error_no_memory();
    }
    memcpy(nodes, w->nodes, w->node_count * sizeof *nodes);
    for (size_t i = 0; i < w->open.used; i++) {
        PyObject *object = ((PyObject **)w->open.items.start)[i];
        uintptr_t start = (uintptr_t)object, bytes = (uintptr_t)Py_TYPE(object)->tp_basicsize;
        bytes = bytes < LEAST_NODE_BYTES ? LEAST_NODE_BYTES : bytes;
        nodes[w->node_count + i] = (lost_node){start, start + bytes, object,    compat_refcount(object), 0,
                                               0,     LOST_UNKNOWN,  is_certain};
    }
    arena_deinit(&w->open.items);
    w->open = (arena_stack){{NULL, 0}, 0};
    w->nodes = nodes;
    w->node_count = count;
    addresses_sort(nodes, count, sizeof *nodes, addresses_compare);
    for (size_t i = 0; i + 1 < count; i++) {
        nodes[i].stop = nodes[i].stop < nodes[i + 1].start ? nodes[i].stop : nodes[i + 1].start;
    }
    return 0;
}

// --- objects that the collector does not track, and that nothing tracked refers to ---

static int take_instances(search *s, const scan_hit *hits, size_t count) {
    lost_walk *w = (lost_walk *)s;
    for (size_t i = 0; i < count; i++) {
        PyObject *object = (PyObject *)(hits[i].word - offsetof(PyObject, ob_type));
        if (hits[i].value != w->h.needles[hits[i].needle].start || marks_has(&w->alive, object) ||
            lost_node_at(w, object)) {
            continue;
        }
        place found;
        search_place_guarded(s, hits[i].word, &found);
        int is_one = found.object == object && (found.kind == PLACE_OBJECT || found.kind == PLACE_STALE);
        if (is_one && !preview_faults(object) && arena_push(&w->open, object) < 0) {
            return error_no_memory();
        }
    }
    return 0;
}

static int find_untracked(lost_walk *w, scratch *memory) {
    size_t count = w->types.used;
    w->h.needles = scratch_alloc(memory, (count + 1) * sizeof *w->h.needles);
    if (!w->h.needles) {
        return error_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        uintptr_t type = ((uintptr_t *)w->types.items.start)[i];
        w->h.needles[i] = (scan_range){type, type + 1};
    }
    return lost_scan(w, count, take_instances);
}

static int take_nodes(lost_walk *w, scratch *memory) {
    _owned_ PyObject *none = PyTuple_New(0);
    interrupt_watch watch = {0, 0};
    w->nodes = scratch_alloc(memory, sizeof *w->nodes);
    if (!none || !w->nodes || marks_init(&w->known) < 0 || census_each(none, look, w, &watch) < 0) {
        interrupt_raise(&watch);
        return -1;
    }
    if (settle_nodes(w, 1, memory) < 0 || find_untracked(w, memory) < 0) {
        return -1;
    }
    arena_deinit(&w->types.items);
    return settle_nodes(w, 0, memory);
}

// --- what a collection would free ---

static int is_tracked(PyObject *object) { return PyObject_IS_GC(object) && compat_gc_tracked(object); }

static int is_lost(const lost_walk *w, const lost_node *node) { return !marks_has(&w->alive, node->object); }

static int explain(PyObject *object, void *argument) {
    lost_node *node = lost_node_at(argument, object);
    if (node) {
        node->left--;
    }
    return 0;
}

// The references that no tp_traverse of a node tells of; and the data that nodes own.
static void count_told(lost_walk *w) {
    for (size_t i = 0; i < w->node_count; i++) {
        w->nodes[i].left = compat_refcount(w->nodes[i].object);
    }
    for (size_t i = 0; i < w->node_count; i++) {
        if (w->nodes[i].is_certain && is_tracked(w->nodes[i].object)) {
            edges_traverse(w->nodes[i].object, explain, w);
        }
        data_span span;
        int owns =
            arrays_is(w->nodes[i].object) && spans_read(w->nodes[i].object, &span) && span.flags & SPAN_OWNED;
        w->failed |= owns && marks_add(&w->owned, (void *)span.start) < 0;
    }
}

static int keep(PyObject *object, void *argument) {
    lost_walk *w = argument;
    lost_node *node = lost_node_at(w, object);
    if (node && node->state == LOST_UNKNOWN && is_lost(w, node)) {
        node->state = LOST_KEPT;
        w->failed |= arena_push(&w->open, object) < 0;
    }
    return w->failed;
}

static void keep_all(lost_walk *w, PyObject *object) {
    keep(object, w);
    while (w->open.used && !w->failed) {
        lost_visit(w, lost_node_at(w, arena_pop(&w->open)), keep, w);
    }
}

// Takes off what lost nodes tell of: tp_traverse of what the collector tracks. Once its holder is garbage, a
// reference goes whoever tells of it.
static void explain_all(lost_walk *w) {
    for (size_t i = 0; i < w->node_count; i++) {
        w->nodes[i].left = compat_refcount(w->nodes[i].object);
        w->nodes[i].state = w->nodes[i].state == LOST_GARBAGE ? LOST_GARBAGE : LOST_UNKNOWN;
    }
    for (size_t i = 0; i < w->node_count; i++) {
        const lost_node *node = &w->nodes[i];
        if (!is_lost(w, node)) {
            continue;
        }
        if (node->state != LOST_GARBAGE && is_tracked(node->object)) {
            edges_traverse(node->object, explain, w);
        } else if (node->state == LOST_GARBAGE || !arrays_is(node->object)) {
            lost_visit(w, node, explain, w);
        }
    }
    for (size_t i = 0; i < w->edge_count; i++) {
        const lost_node *from = lost_node_at(w, (void *)w->edges[i].from);
        lost_node *to = lost_node_at(w, (void *)w->edges[i].to);
        int is_hidden = from && to && from->state == LOST_GARBAGE && !arrays_is(from->object);
        if (is_hidden && !lost_is_told(from->object, to->object)) {
            to->left--;
        }
    }
}

// As the collector does: what has a reference left is kept, with all it refers to; the rest is garbage. Then
// again, because what garbage holds goes with it.
static int judge(lost_walk *w) {
    size_t fresh = 1;
    for (int round = 0; fresh && round < LOST_ROUNDS; round++) {
        fresh = 0;
        explain_all(w);
        for (size_t i = 0; i < w->node_count; i++) {
            if (is_lost(w, &w->nodes[i]) && w->nodes[i].left > 0) {
                keep_all(w, w->nodes[i].object);
            }
        }
        for (size_t i = 0; i < w->node_count; i++) {
            if (is_lost(w, &w->nodes[i]) && w->nodes[i].state == LOST_UNKNOWN) {
                w->nodes[i].state = LOST_GARBAGE;
                fresh++;
            }
        }
    }
    return w->failed ? error_no_memory() : 0;
}

// --- rows ---

typedef struct {
    PyObject *rows, *module;    // borrowed
    PyTypeObject *subject_type; // borrowed
    lost_walk *w;
    PyObject *held; // borrowed
} holder_list;

static PyObject *subject_of(const holder_list *list, PyObject *object) {
    return object ? PyObject_CallOneArg((PyObject *)list->subject_type, object) : Py_NewRef(Py_None);
}

static int add_holder(PyObject *holder, int64_t offset, int64_t link, void *argument) {
    const holder_list *list = argument;
    int is_cycle = holder && lost_leads_to(list->w, list->held, holder);
    PyObject *subject = subject_of(list, holder); // stolen below
    return list_add(list->rows,
                    subject ? Py_BuildValue("(NLLi)", subject, (long long)offset, (long long)link, is_cycle)
                            : NULL);
}

typedef struct {
    lost_walk *w;
    tally types, buffers; // of all rows: own bytes, and bytes of the buffers
    Py_ssize_t objects, bytes;
} kept_sum;

// Bytes of an array or the like that the object frees and that are no part of it.
static Py_ssize_t buffer_of(PyObject *object) {
    data_span span;
    int is_read = !PyUnicode_Check(object) && !PyBytes_Check(object) && !PyByteArray_Check(object) &&
                  spans_read(object, &span);
    return is_read && span.flags & SPAN_OWNED ? (Py_ssize_t)span.span_bytes : 0;
}

static Py_ssize_t add(tally_row *row, Py_ssize_t bytes) {
    row->objects++;
    row->bytes += bytes;
    return bytes;
}

// Counts what a lost object keeps; each node for the first row that reaches it.
static int sum(PyObject *object, void *argument) {
    kept_sum *s = argument;
    lost_node *node = lost_node_at(s->w, object);
    tally_row *row = node && node->state == LOST_KEPT ? tally_find(&s->types, Py_TYPE(object)) : NULL;
    if (row) {
        node->state = LOST_UNKNOWN;
        s->objects++;
        Py_ssize_t apart = buffer_of(object), own = (Py_ssize_t)own_bytes(object, &row->rule);
        own -= compat_bytearray_holds(object) ? (Py_ssize_t)compat_bytearray_bytes(object) : 0;
        s->bytes += add(row, own < apart ? own : own - apart); // an array counts its bytes as its own
        tally_row *owner = apart ? tally_find(&s->buffers, Py_TYPE(object)) : NULL;
        s->bytes += owner ? add(owner, apart) : 0;
        s->w->failed |= arena_push(&s->w->open, object) < 0;
    }
    return s->w->failed;
}

static void sum_all(kept_sum *s, PyObject *object) {
    sum(object, s);
    while (s->w->open.used && !s->w->failed) {
        lost_visit(s->w, lost_node_at(s->w, arena_pop(&s->w->open)), sum, s);
    }
}

static PyObject *row_of(kept_sum *s, holder_list list, const lost_node *node) {
    _owned_ PyObject *holders = PyList_New(0);
    list.rows = holders;
    list.held = node->object;
    if (!holders || lost_own_holder(node, add_holder, &list) < 0 ||
        lost_hidden_holders(s->w, node, add_holder, &list) < 0) {
        return NULL;
    }
    s->objects = s->bytes = 0;
    sum_all(s, node->object);
    Py_ssize_t references = compat_refcount(node->object);
    PyObject *subject = subject_of(&list, node->object); // stolen below
    return subject ? Py_BuildValue("(NnnOnni)", subject, references, node->left, holders, s->objects,
                                   s->bytes, node->is_certain)
                   : NULL;
}

static PyObject *result(lost_walk *w, PyObject *module) {
    holder_list list = {NULL, module, native_get_state(module)->subject_type, w, NULL};
    kept_sum s = {.w = w};
    _owned_ PyObject *rows = PyList_New(0);
    Py_ssize_t garbage = 0, more = 0;
    for (size_t i = 0; rows && i < w->node_count; i++) {
        garbage += w->nodes[i].state == LOST_GARBAGE;
    }
    for (size_t i = 0; rows && i < w->node_count; i++) {
        const lost_node *node = &w->nodes[i];
        if (!is_lost(w, node) || node->state == LOST_GARBAGE || node->left <= 0) {
            continue;
        }
        more += PyList_GET_SIZE(rows) == ROWS_MAX;
        if (PyList_GET_SIZE(rows) < ROWS_MAX && list_add(rows, row_of(&s, list, node)) < 0) {
            Py_CLEAR(rows);
        }
    }
    _owned_ PyObject *types = rows ? tally_list(&s.types) : NULL;
    _owned_ PyObject *buffers = types ? tally_list(&s.buffers) : NULL;
    tally_deinit(&s.types);
    tally_deinit(&s.buffers);
    return buffers ? Py_BuildValue("(OnnKOO)", rows, more, garbage, w->h.s.scanned_bytes, types, buffers)
                   : NULL;
}

static PyObject *run(lost_walk *w, PyObject *module, PyObject *args, scratch *memory) {
    PyObject *leave_out, *prefix; // borrowed
    if (!PyArg_ParseTuple(args, "OU:lost", &leave_out, &prefix)) {
        return NULL;
    }
    if (lost_mark_alive(w, args) < 0) {
        interrupt_raise(&w->watch);
        return NULL;
    }
    _owned_ PyObject *ranges = lost_ranges_left_out(w, leave_out);
    if (!ranges) {
        return NULL;
    }
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    lost_find_evaluators(w);
    if (leak_search_prepare(&w->h, module, ranges, prefix, frame, memory) < 0 || take_nodes(w, memory) < 0) {
        return NULL;
    }
    count_told(w);
    if (lost_search(w, memory) < 0 || judge(w) < 0) {
        return NULL;
    }
    return result(w, module);
}

static PyObject *lost(PyObject *module, PyObject *args) {
    _scratch_ scratch memory = {0};
    lost_walk *w = scratch_init(&memory, LOST_SCRATCH_BYTES) < 0 ? NULL : scratch_alloc(&memory, sizeof *w);
    if (!w) {
        return PyErr_NoMemory();
    }
    names_forget(); // its references to names are found by no search
    edges_prepare();
    spans_prepare();
    _collector_ int was_on = PyGC_Disable();
    memory_guard_arm();
    PyObject *found = run(w, module, args, &memory); // new
    memory_guard_disarm();
    marks_deinit(&w->alive);
    marks_deinit(&w->known);
    marks_deinit(&w->owned);
    arena_deinit(&w->open.items);
    arena_deinit(&w->types.items);
    arena_deinit(&w->numbers.items);
    return found;
}

PART_FUNCTIONS(lost, {"lost", lost, METH_VARARGS, NULL})
