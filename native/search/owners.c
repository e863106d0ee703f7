// Who holds these objects? Searches memory for pointers to them, and verifies each.
//
// Overview. One call holds the GIL from the first read to the last verification, so no Python object moves:
//   1. every word that points to a target (memory/scan.c, search/search.c): the hits;
//   2. what each hit is part of (search/places.c). Freed memory and dead frames drop out as stale. A hit in
//   an
//      object, a frame or a static is an edge. A hit in a block that is no object (items of a list, keys of
//      a dict, a C struct) waits for 3;
//   3. one more search for pointers into all of those blocks at once (search/blocks.c);
//   4. for each edge, which part of the holder it is (search/slots.c, search/search.c), and whether that part
//   owns a reference.
//      Where a layout does not tell, tp_traverse of the holder does, if the collector vouches for it.
// Who frees: all working memory is one scratch, freed on every way out. Holders and keys stay borrowed until
// step 4 is done; then all are referenced at once, before the first Python object is made, because making
// one may run the collector.
// Hits are placed slice by slice, so stale ones take no room, and the words of one block become one edge.
// Limits: `limit` edges are kept for all targets together, those beyond are counted; blocks are looked for
// by pointers to their first 4 KiB.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "memory/addresses.h"
#include "objects/objects.h"
#include "search/holders.h"

PyObject *owners_box(search *s, PyObject *object /* borrowed, may be NULL */) {
    return object ? PyObject_CallOneArg((PyObject *)s->view.subject_type, object) : Py_NewRef(Py_None);
}

static PyObject *edge_tuple(search *s, const edge *e) {
    static const char *const kinds[] = {"stale",  "ours",  "object",  "block",  "frame",
                                        "static", "stack", "mapping", "unknown"};
    const char *kind = e->resolved ? "object" : kinds[e->kind];
    _owned_ PyObject *holder = owners_box(s, e->holder), *key = owners_box(s, e->part.key);
    _owned_ PyObject *frame = e->frame ? frames_tuple(e->frame) : Py_NewRef(Py_None);
    if (!holder || !key || !frame) {
        return NULL;
    }
    return Py_BuildValue("IsOsLOlOKKKO", s->numbers[e->target], kind, holder,
                         e->part.name ? e->part.name : "", (long long)e->part.index, key, e->references,
                         e->certain ? Py_True : Py_False, (unsigned long long)e->word,
                         (unsigned long long)e->link, (unsigned long long)e->block.start, frame);
}

// References what is borrowed, then makes the rows: from here on the collector may run.
PyObject *owners_rows(search *s) {
    size_t kept = 0;
    for (size_t i = 0; i < s->edge_count; i++) {
        size_t held = (size_t)s->edges[i].references;
        s->stale += s->edges[i].words > held ? s->edges[i].words - held : 0;
        if (held) {
            Py_XINCREF(s->edges[i].holder);
            Py_XINCREF(s->edges[i].part.key);
            if (s->edges[i].frame) {
                Py_INCREF(s->edges[i].frame->code);
            }
            s->edges[kept++] = s->edges[i];
        }
    }
    s->edge_count = kept;
    _owned_ PyObject *rows = PyList_New(0);
    for (size_t i = 0; i < kept; i++) {
        edge *e = &s->edges[i];
        if (rows && list_add(rows, edge_tuple(s, e)) < 0) {
            Py_CLEAR(rows); // go on: every reference taken above is given back below
        }
        Py_XDECREF(e->holder);
        Py_XDECREF(e->part.key);
        if (e->frame) {
            Py_DECREF(e->frame->code);
        }
    }
    return take(rows);
}

// Targets by address, each with the caller's number: needles must be sorted.
static int take_targets(search *s, PyObject *module, PyObject *subjects, scratch *memory) {
    struct numbered {
        PyObject *target; // borrowed
        size_t number;
    } *rows;
    s->target_count = (size_t)PyTuple_GET_SIZE(subjects);
    rows = scratch_alloc(memory, s->target_count * sizeof *rows);
    s->targets = scratch_alloc(memory, s->target_count * sizeof *s->targets);
    s->numbers = scratch_alloc(memory, s->target_count * sizeof *s->numbers);
    if (!rows || !s->targets || !s->numbers) {
        return error_no_memory();
    }
    for (size_t i = 0; i < s->target_count; i++) {
        rows[i].number = i;
        rows[i].target = subject_object(module, PyTuple_GET_ITEM(subjects, (Py_ssize_t)i));
        if (!rows[i].target) {
            return -1;
        }
    }
    addresses_sort(rows, s->target_count, sizeof *rows, addresses_compare);
    for (size_t i = 0; i < s->target_count; i++) {
        s->targets[i] = rows[i].target;
        s->numbers[i] = (uint32_t)rows[i].number;
    }
    return 0;
}

// ((type, (offset, ...)), ...) from Python.
static int take_layouts(search *s, PyObject *layouts, scratch *memory) {
    size_t count = (size_t)PyTuple_GET_SIZE(layouts);
    holder_layout *rows = scratch_alloc(memory, count * sizeof *rows);
    for (size_t i = 0; rows && i < count; i++) {
        PyObject *offsets; // borrowed
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(layouts, (Py_ssize_t)i), "O!O!", &PyType_Type, &rows[i].type,
                              &PyTuple_Type, &offsets)) {
            return -1;
        }
        rows[i].count = (size_t)PyTuple_GET_SIZE(offsets);
        uint32_t *numbers = scratch_alloc(memory, rows[i].count * sizeof *numbers);
        for (size_t k = 0; numbers && k < rows[i].count; k++) {
            numbers[k] = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GET_ITEM(offsets, (Py_ssize_t)k));
        }
        rows[i].offsets = numbers;
    }
    s->view.layouts = rows;
    s->view.layout_count = rows ? count : 0;
    return PyErr_Occurred() ? -1 : 0;
}

int owners_take(search *s, PyObject *module, PyObject *subjects, PyObject *layouts, scratch *memory) {
    _owned_ PyObject *one = PyTuple_Check(subjects) ? Py_NewRef(subjects) : PyTuple_Pack(1, subjects);
    s->view.subject_type = native_get_state(module)->subject_type;
    return one && take_targets(s, module, one, memory) == 0 ? take_layouts(s, layouts, memory) : -1;
}

static int search_prepare(search *s, PyObject *leave_out, PyObject *own_prefix, uintptr_t frame,
                          scratch *memory) {
    scan_range *left_out;
    size_t count;
    s->edges = scratch_alloc(memory, s->edge_capacity * sizeof *s->edges);
    s->blocks = scratch_alloc(memory, s->edge_capacity * sizeof *s->blocks);
    s->hits = scratch_alloc(memory, SCAN_SLICE_WORDS * sizeof *s->hits);
    if (scan_ranges_parse(leave_out, memory, SCAN_OWN_RANGES, &left_out, &count) < 0) {
        return -1;
    }
    if (!s->edges || !s->blocks || !s->hits || memory_maps_init(&s->view.maps, memory) < 0) {
        return error_no_memory();
    }
    count += scan_ranges_own(left_out + count, &s->view.maps, memory, frame);
    if (scan_runs_init(&s->runs, &s->view.maps, left_out, count, memory) < 0 ||
        search_view_init(&s->view, &s->runs, memory, own_prefix) < 0) {
        return error_no_memory();
    }
    s->left_out_bytes = s->runs.left_out_bytes + s->runs.untouched_bytes - memory->size;
    return 0;
}

static int search_run(search *s, scratch *memory) {
    if (search_needles(s, memory) < 0) {
        return -1;
    }
    if (s->unaligned) {
        return unaligned_search(s, memory);
    }
    if (s->boxes) {
        return brief_search(s, memory);
    }
    if (search_targets(s, &s->runs) < 0 || (s->progress_ran && search_refresh(s, memory) < 0) ||
        blocks_search(s, memory) < 0) {
        return -1;
    }
    search_resolve(s);
    return 0;
}

// How many references to each target are the tool's own, in the order of the targets.
static int take_boxes(search *s, PyObject *boxes, scratch *memory) {
    s->boxes = scratch_alloc(memory, s->target_count * sizeof *s->boxes);
    if (!s->boxes || !PyTuple_Check(boxes) || (size_t)PyTuple_GET_SIZE(boxes) != s->target_count) {
        return error_set(PyExc_ValueError, "boxes must have one number for each subject");
    }
    for (size_t i = 0; i < s->target_count; i++) {
        s->boxes[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(boxes, s->numbers[i]));
    }
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *owners_find(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"subjects",   "leave_out", "layouts", "own_prefix", "limit", "progress",
                            "namespaces", "brief",     "boxes",   "unaligned",  NULL};
    PyObject *subjects, *leave_out, *layouts, *own_prefix, *progress = Py_None; // borrowed
    PyObject *namespaces = NULL, *boxes = Py_None;                              // borrowed
    int brief = 0, unaligned = 0;
    Py_ssize_t limit = 16384;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO!U|nOO!pOp:find_holders", names, &PyTuple_Type,
                                     &subjects, &leave_out, &PyTuple_Type, &layouts, &own_prefix, &limit,
                                     &progress, &PyTuple_Type, &namespaces, &brief, &boxes, &unaligned)) {
        return NULL;
    }
    if (limit < 1 || limit > 1 << 18) {
        return PyErr_Format(PyExc_ValueError, "limit is %zd, not in 1 .. %d", limit, 1 << 18);
    }
    _scratch_ scratch memory = {0};
    if (scratch_init(&memory, SCRATCH_BYTES) < 0) {
        return PyErr_NoMemory();
    }
    uint64_t start = clock_now_ns();
    search *s = scratch_alloc(&memory, sizeof *s);
    s->edge_capacity = (size_t)limit;
    s->progress = progress == Py_None ? NULL : progress;
    s->progress_ns = start;
    s->namespaces = namespaces;
    s->brief = brief;
    s->unaligned = unaligned;
    s->own_prefix = own_prefix;
    if (owners_take(s, module, subjects, layouts, &memory) < 0 ||
        (boxes != Py_None && take_boxes(s, boxes, &memory) < 0)) {
        return NULL;
    }
    memory_guard_arm();
    int status = search_prepare(s, leave_out, own_prefix, (uintptr_t)__builtin_frame_address(0), &memory);
    status = status < 0 ? status : search_run(s, &memory);
    memory_guard_disarm();
    if (status < 0 && !PyErr_Occurred()) {
        interrupt_raise(&s->watch);
    }
    if (status < 0) {
        return NULL;
    }
    Py_ssize_t count = s->target_count == 1 ? Py_REFCNT(s->targets[0]) - 1 : 0;
    for (Py_ssize_t i = 0; namespaces && i < PyTuple_GET_SIZE(namespaces); i++) {
        count -= PyTuple_GET_ITEM(namespaces, i) == s->targets[0]; // held by the caller's tuple
    }
    s->verify_ns = clock_now_ns() - start - s->scan_ns;
    _owned_ PyObject *rows = owners_rows(s);
    if (!rows) {
        return NULL;
    }
    return Py_BuildValue("O{sKsKsKsKsKsKsKsnsi}", rows, "scanned_bytes", s->scanned_bytes, "left_out_bytes",
                         s->left_out_bytes, "scan_ns", s->scan_ns, "verify_ns", s->verify_ns, "hits",
                         s->hit_count - s->ours, "stale", s->stale, "truncated", s->truncated, "references",
                         count, "interrupted", s->progress_ran);
}

int owners_exec(PyObject *module) {
    // References of a code object that no attribute gives: names of its variables, and what it remembers.
    _owned_ PyObject *fields =
        Py_BuildValue("{s:n,s:n,s:n}", "co_localsplusnames", offsetof(PyCodeObject, co_localsplusnames),
                      "co_localspluskinds", offsetof(PyCodeObject, co_localspluskinds),
                      COMPAT_CODE_CACHE_NAME, offsetof(PyCodeObject, COMPAT_CODE_CACHE));
    if (!fields || PyModule_AddObjectRef(module, "CODE_FIELDS", fields) < 0) {
        return -1;
    }
    return ADD_FUNCTIONS(module, {"find_holders", (PyCFunction)(void (*)(void))owners_find,
                                  METH_VARARGS | METH_KEYWORDS, NULL});
}
