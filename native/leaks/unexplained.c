// Unexplained references: references that the gc does not see, counted several times and compared.
//
// Overview. A note walks the gc lists, the running frames, and what these refer to (objects/edges.c). It
// gives each object its count minus the references met. The rest are references of C code, of caches, of
// types without tp_traverse. Their number says little; its change from run to run does. References that every
// run of the same code adds are leaked; references that every run removes are released too often. This is the
// rule of CPython's regrtest -R (Lib/test/libregrtest), for single objects and without a debug build.
//
// Life cycle. Notes 0 to N share one table of rows, keyed by address and type. The last note returns the rows
// that change and clears the table. An object at a reused address with the same type counts as the same
// object; such a row does not grow with every note.
//
// An object that neither the gc nor a frame reaches is found by its block
// (leaks/raw_memory/allocation_runs.c), if a run allocated it.
//
// Who frees. Nothing here owns a reference; the table is an arena of its own. Limits: NOTES_MAX notes.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/leaks.h"
#include "leaks/raw_memory/followed.h"
#include "memory/marks.h"
#include "module/arena.h"
#include "objects/objects.h"

enum { NOTES_MAX = 8, ROWS_AT_FIRST = 1 << 16 };

typedef struct {
    uintptr_t address, type; // 0: a free row
    int32_t unexplained[NOTES_MAX];
    uint8_t seen; // one bit per note
} unexplained_row;

static struct {
    arena memory;
    size_t capacity, used;
    arena_stack open; // borrowed: objects met but not followed yet
    marks types;      // types of the objects met, and types that were met themselves
    int notes, failed;
} table;

static void unexplained_clear(void) {
    arena_deinit(&table.memory);
    arena_deinit(&table.open.items);
    if (table.types.rows) {
        marks_deinit(&table.types);
    }
    allocation_runs_deinit();
    ledger_frees_retire();
    memset(&table, 0, sizeof table);
}

static unexplained_row *place_of(unexplained_row *rows, size_t capacity, uintptr_t address, uintptr_t type) {
    size_t at = (size_t)((address >> 4) * 0x9E3779B97F4A7C15ULL >> 20) & (capacity - 1);
    while (rows[at].address && (rows[at].address != address || rows[at].type != type)) {
        at = (at + 1) & (capacity - 1);
    }
    return &rows[at];
}

static int make_room(void) {
    size_t capacity = table.capacity ? table.capacity * 2 : ROWS_AT_FIRST;
    arena wider = {NULL, 0};
    if (arena_resize(&wider, capacity * sizeof(unexplained_row)) < 0) {
        table.failed = 1;
        return -1;
    }
    unexplained_row *old = table.memory.start;
    for (size_t i = 0; i < table.capacity; i++) {
        if (old[i].address) {
            *place_of(wider.start, capacity, old[i].address, old[i].type) = old[i];
        }
    }
    arena_deinit(&table.memory);
    table.memory = wider;
    table.capacity = capacity;
    return 0;
}

// The row of an object. An object that this note meets for the first time is queued in `open`.
static unexplained_row *meet(PyObject *object) {
    if (table.used * 2 >= table.capacity && make_room() < 0) {
        return NULL;
    }
    uintptr_t address = (uintptr_t)object, type = (uintptr_t)Py_TYPE(object);
    unexplained_row *row = place_of(table.memory.start, table.capacity, address, type);
    if (!row->address) {
        *row = (unexplained_row){.address = address, .type = type};
        table.used++;
        table.failed |= marks_add(&table.types, Py_TYPE(object)) < 0;
        if (PyType_Check(object)) { // its instances may all be unreachable
            table.failed |= marks_add(&table.types, object) < 0;
        }
    }
    if (!(row->seen >> table.notes & 1)) {
        row->seen |= (uint8_t)(1 << table.notes);
        Py_ssize_t count = compat_refcount(object);
        row->unexplained[table.notes] = compat_never_counted(object) ? 0 : (int32_t)count;
        if (count > 0 && edges_has(object) && arena_push(&table.open, object) < 0) {
            table.failed = 1;
        }
    }
    return row;
}

static int visit(PyObject *object, void *unused) {
    unexplained_row *row = object && compat_refcount(object) > 0 ? meet(object) : NULL;
    if (row && !compat_never_counted(object)) {
        row->unexplained[table.notes]--;
    }
    return table.failed;
}

static void follow(void) {
    while (table.open.used && !table.failed) {
        edges_visit(arena_pop(&table.open), visit, NULL);
    }
}

static void note(void) {
    struct _gc_runtime_state *gc = &PyInterpreterState_Get()->gc;
    for (int i = 0; i < COMPAT_GC_LISTS; i++) {
        PyGC_Head *list = compat_gc_list(gc, i);
        for (PyGC_Head *at = compat_gc_next(list); at != list && !table.failed; at = compat_gc_next(at)) {
            PyObject *object = compat_gc_object(at);
            if (compat_refcount(object) > 0) {
                meet(object);
                follow();
            }
        }
    }
    frames_each_reference(visit, NULL);
    follow();
}

static int is_type(uintptr_t address) {
    return address % sizeof(void *) == 0 && marks_has(&table.types, (const void *)address);
}

// Adds an object that no walk met. Its first note is the one after the run that allocated it.
static void meet_unreached(PyObject *object, int run) {
    unexplained_row *rows = table.memory.start;
    uintptr_t address = (uintptr_t)object, type = (uintptr_t)Py_TYPE(object);
    unexplained_row *row = place_of(rows, table.capacity, address, type);
    if ((row->address && row->seen >> table.notes & 1) || compat_never_counted(object)) {
        return;
    }
    table.used += !row->address;
    *row = (unexplained_row){.address = address, .type = type};
    for (int i = run; i <= table.notes; i++) {
        row->seen |= (uint8_t)(1 << i);
        row->unexplained[i] = (int32_t)compat_refcount(object);
    }
    if (table.used * 2 >= table.capacity) {
        make_room();
    }
}

// The first note that met the object, if every later one met it too; else -1.
static int first_note(const unexplained_row *row) {
    for (int first = 0; first < table.notes; first++) {
        if (row->seen >> first & 1) {
            return row->seen == (((1 << table.notes) - 1) & ~((1 << first) - 1)) ? first : -1;
        }
    }
    return -1;
}

// Whether the count rises after each run, or falls after each run.
static int changes_steadily(const unexplained_row *row) {
    int up = 0, down = 0;
    for (int i = 1; i < table.notes; i++) {
        up += row->unexplained[i] > row->unexplained[i - 1];
        down += row->unexplained[i] < row->unexplained[i - 1];
    }
    return up == table.notes - 1 || down == table.notes - 1;
}

static PyObject *row_of(PyObject *module, const unexplained_row *row, int first) {
    PyObject *object = (PyObject *)row->address; // borrowed: this note met it
    PyObject *type = (PyObject *)native_get_state(module)->subject_type;
    _owned_ PyObject *subject = PyObject_CallOneArg(type, object);
    _owned_ PyObject *name = subject ? layout_type_name(Py_TYPE(object)) : NULL;
    _owned_ PyObject *counts = name ? PyTuple_New(table.notes - first) : NULL;
    for (int i = first; counts && i < table.notes; i++) {
        if (tuple_set(counts, i - first, PyLong_FromLong(row->unexplained[i])) < 0) {
            return NULL;
        }
    }
    return counts ? Py_BuildValue("(OOiO)", subject, name, first, counts) : NULL;
}

// The rows that change. All are held first, since making the result may free objects.
static PyObject *rows_list(PyObject *module, Py_ssize_t limit, Py_ssize_t *ret_left_out) {
    _owned_ PyObject *rows = PyList_New(0);
    arena_stack chosen = {{NULL, 0}, 0};
    unexplained_row *all = table.memory.start;
    for (size_t i = 0; i < table.capacity; i++) {
        int first = all[i].address ? first_note(&all[i]) : -1;
        int moves =
            first == 0 ? changes_steadily(&all[i]) : first > 0 && all[i].unexplained[table.notes - 1] > 0;
        if (moves && (Py_ssize_t)chosen.used < limit && arena_push(&chosen, &all[i]) == 0) {
            Py_INCREF((PyObject *)all[i].address);
        } else if (moves) {
            ++*ret_left_out;
        }
    }
    while (chosen.used) {
        const unexplained_row *row = arena_pop(&chosen);
        _owned_ PyObject *held = (PyObject *)row->address;
        if (rows && list_add(rows, row_of(module, row, first_note(row))) < 0) {
            Py_CLEAR(rows);
        }
    }
    arena_deinit(&chosen.items);
    return take(rows);
}

static PyObject *unexplained_note(PyObject *module, PyObject *limit_object) {
    Py_ssize_t limit = PyLong_AsSsize_t(limit_object), left_out = 0;
    if (limit < 0 || limit > 1 << 20 || table.notes == NOTES_MAX) {
        return PyErr_Occurred() ? NULL
                                : PyErr_Format(PyExc_ValueError, "at most %d notes, 2**20 rows", NOTES_MAX);
    }
    if (!table.types.rows && marks_init(&table.types) < 0) {
        return PyErr_NoMemory();
    }
    names_forget(); // its references to names are found by no search
    allocation_run = 0;
    note();
    if (limit && !table.failed) {
        allocation_runs_each(is_type, meet_unreached);
    }
    allocation_run = ++table.notes;
    if (table.failed) {
        unexplained_clear();
        return PyErr_NoMemory();
    }
    _owned_ PyObject *rows = limit ? rows_list(module, limit, &left_out) : PyList_New(0);
    if (limit) {
        unexplained_clear();
    }
    return rows ? Py_BuildValue("(On)", rows, left_out) : NULL;
}

static PyObject *unexplained_forget(PyObject *module, PyObject *unused) {
    unexplained_clear();
    Py_RETURN_NONE;
}

PART_FUNCTIONS(unexplained, {"unexplained_note", unexplained_note, METH_O, NULL},
               {"unexplained_forget", unexplained_forget, METH_NOARGS, NULL})
