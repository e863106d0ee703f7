// The sampled blocks as Python reads them, each with what its allocator says of it.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/sampled/growth.h"
#include "memory/memory.h"
#include "search/holders.h"

typedef struct {
    malloc_view view;
    memory_maps maps;
    uintptr_t address;
    block_state state;
    scan_range block;
} question;

static UNSANITIZED void state_body(void *argument) {
    question *q = argument;
    const memory_map *map = memory_maps_find(&q->maps, q->address);
    q->state = map ? pymalloc_block(q->address, map->start, &q->block) : BLOCK_FREE;
    if (q->state == BLOCK_NONE) {
        q->state = malloc_block(&q->view, q->address, &q->block);
    }
}

// Whether a block is in use, as far as can be told: memory that is not mapped, or free, is not.
static int is_in_use(question *q, uintptr_t address) {
    q->address = address;
    return memory_guarded(state_body, q) == 0 && q->state != BLOCK_FREE;
}

static int is_code(question *q, const growth_site *site, int frame) {
    PyCodeObject *code = site->codes[frame];
    return !site->is_borrowed ||
           (is_in_use(q, (uintptr_t)code) && q->state == BLOCK_LIVE && Py_TYPE(code) == &PyCode_Type &&
            site->instructions[frame] >= -2 && site->instructions[frame] < (int)_PyCode_NBYTES(code));
}

static PyObject *python_of(question *q, const growth_site *site) {
    _owned_ PyObject *frames = PyList_New(0);
    for (int i = 0; frames && i < site->python_count; i++) {
        if (is_code(q, site, i) &&
            list_add(frames, Py_BuildValue("(Oi)", site->codes[i], site->instructions[i])) < 0) {
            return NULL;
        }
    }
    return take(frames);
}

static PyObject *native_of(const growth_site *site) {
    _owned_ PyObject *frames = PyTuple_New(site->native_count);
    for (int i = 0; frames && i < site->native_count; i++) {
        if (tuple_set(frames, i, PyLong_FromUnsignedLongLong(site->native[i])) < 0) {
            return NULL;
        }
    }
    return take(frames);
}

static PyObject *sites_of(question *q) {
    _owned_ PyObject *found = PyDict_New();
    for (uint32_t number = 1; found && number < GROWTH_SITES; number++) {
        const growth_site *site = growth_site_of(number);
        if (!site) {
            continue;
        }
        _owned_ PyObject *key = PyLong_FromUnsignedLong(number), *python = python_of(q, site);
        _owned_ PyObject *native = native_of(site);
        _owned_ PyObject *both =
            python && native ? Py_BuildValue("(OOi)", python, native, site->is_beside) : NULL;
        if (!key || !both || PyDict_SetItem(found, key, both) < 0) {
            return NULL;
        }
    }
    return take(found);
}

static int is_counted(question *q, const growth_row *row) {
    int is_own =
        row->function == GROWTH_mmap || row->function == GROWTH_mmap64 || row->function == GROWTH_MemoryPool;
    return is_own || is_in_use(q, ~row->hidden);
}

static PyObject *rows_of(question *q, const growth_row *rows, size_t count) {
    _owned_ PyObject *found = PyList_New(0);
    for (size_t i = 0; found && i < count; i++) {
        const growth_row *row = &rows[i];
        if (is_counted(q, row) &&
            list_add(found, Py_BuildValue("(KKKII)", (unsigned long long)~row->hidden,
                                          (unsigned long long)row->bytes, (unsigned long long)row->ns,
                                          row->site, row->function)) < 0) {
            return NULL;
        }
    }
    return take(found);
}

static PyObject *growth_read(PyObject *module, PyObject *unused) {
    _scratch_ scratch memory = {NULL, 0, 0};
    question q = {.address = 0};
    scan_runs runs;
    if (scratch_init(&memory, SCRATCH_BYTES) < 0 || memory_maps_init(&q.maps, &memory) < 0 ||
        resident_runs_init(&runs, &q.maps, &memory) < 0) {
        return PyErr_NoMemory();
    }
    growth_row *rows = scratch_alloc(&memory, GROWTH_ROWS / 2 * sizeof *rows);
    if (!rows) {
        return PyErr_NoMemory();
    }
    size_t count = growth_copy(rows, GROWTH_ROWS / 2);
    malloc_view_init(&q.view, &q.maps, &runs);
    memory_guard_arm();
    _owned_ PyObject *found = rows_of(&q, rows, count);
    _owned_ PyObject *sites = found ? sites_of(&q) : NULL;
    memory_guard_disarm();
    return sites ? Py_BuildValue("(OOKK)", found, sites, (unsigned long long)growth_dropped(),
                                 (unsigned long long)growth_watched_ns())
                 : NULL;
}

PART_FUNCTIONS(growth_read, {"growth_read", growth_read, METH_NOARGS, NULL})
