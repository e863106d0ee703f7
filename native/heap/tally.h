// Objects and own bytes by type, kept in C memory while a walk lasts: no object of Python is made.
//
// Rows lie in an open hash table by the type's address. Who owns the types: nobody during the walk (the
// GIL is held and the gc is off, so none can go); tally_list takes references for as long as it builds.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_TALLY_H
#define INSPECTOR_TALLY_H

#include "objects/objects.h"

typedef struct {
    PyTypeObject *type; // borrowed
    Py_ssize_t objects;
    Py_ssize_t bytes;
    int mark; // the walk's own: 0 in a new row
    own_bytes_rule rule;
} tally_row;

typedef struct {
    arena table;
    tally_row *rows; // a power of two of them
    size_t capacity;
    size_t used;
    tally_row *last; // neighbours are often of one type
} tally;

// The row of a type, or the free one where it would go. Type objects lie at 16-byte steps.
static inline tally_row *tally_slot(tally_row *rows, size_t capacity, PyTypeObject *type) {
    size_t i = (size_t)(((uintptr_t)type >> 4) * 0x9E3779B97F4A7C15ull >> 32) & (capacity - 1);
    while (rows[i].type && rows[i].type != type) {
        i = (i + 1) & (capacity - 1);
    }
    return &rows[i];
}

static inline int tally_grow(tally *counts) {
    arena table = {NULL, 0};
    size_t capacity = counts->capacity ? counts->capacity * 2 : 1024;
    if (arena_resize(&table, capacity * sizeof(tally_row)) < 0) {
        return -1;
    }
    for (size_t i = 0; i < counts->capacity; i++) {
        if (counts->rows[i].type) {
            *tally_slot(table.start, capacity, counts->rows[i].type) = counts->rows[i];
        }
    }
    arena_deinit(&counts->table);
    *counts = (tally){table, table.start, capacity, counts->used, NULL};
    return 0;
}

// The row of a type, made if need be; NULL when memory is out. The rule for own bytes is found when a type
// is first met: that looks through its MRO and is too slow for every object.
static inline tally_row *tally_find(tally *counts, PyTypeObject *type) {
    if (counts->last && counts->last->type == type) {
        return counts->last;
    }
    if (counts->used * 2 >= counts->capacity && tally_grow(counts) < 0) {
        return NULL;
    }
    tally_row *row = tally_slot(counts->rows, counts->capacity, type);
    if (!row->type) {
        row->type = type;
        own_bytes_plan(type, &row->rule);
        counts->used++;
    }
    counts->last = row;
    return row;
}

static inline void tally_add(tally_row *row, PyObject *object) {
    row->objects++;
    row->bytes += (Py_ssize_t)own_bytes(object, &row->rule);
}

static inline void tally_deinit(tally *counts) { arena_deinit(&counts->table); }

// [(type name, objects, bytes)] of the rows that counted something. New reference, NULL with an exception.
static inline PyObject *tally_list(tally *counts) {
    for (size_t i = 0; i < counts->capacity; i++) {
        Py_XINCREF(counts->rows[i].type); // making objects may run finalizers, which may free types
    }
    _owned_ PyObject *list = PyList_New(0);
    for (size_t i = 0; i < counts->capacity; i++) {
        tally_row *row = &counts->rows[i];
        if (list && row->type && row->objects &&
            list_add(list, Py_BuildValue("Nnn", layout_type_name(row->type), row->objects, row->bytes)) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row->type);
    }
    return take(list);
}

#endif
