// Rows of what objects own beyond Python, as an adapter hands them over.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_BEYOND_ROWS_H
#define INSPECTOR_BEYOND_ROWS_H

#include "module/native.h"

typedef struct {
    uint64_t address, references, first, count;
} beyond_row;

typedef struct {
    Py_buffer rows;       // of beyond_row, by address
    Py_buffer references; // of uint64_t: addresses
    PyObject *holders;    // borrowed list
} beyond;

// The row of an address, or NULL.
static inline const beyond_row *beyond_find(const beyond *of, const PyObject *object /* borrowed */) {
    const beyond_row *rows = of->rows.buf;
    size_t low = 0, high = (size_t)of->rows.len / sizeof(*rows);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (rows[middle].address == (uintptr_t)object) {
            return &rows[middle];
        }
        low = rows[middle].address < (uintptr_t)object ? middle + 1 : low;
        high = rows[middle].address < (uintptr_t)object ? high : middle;
    }
    return NULL;
}

// Every range of references lies in its buffer.
static inline int beyond_fits(const beyond *of) {
    const beyond_row *rows = of->rows.buf;
    uint64_t all = (uint64_t)of->references.len / sizeof(uint64_t);
    for (size_t i = 0; i < (size_t)of->rows.len / sizeof(*rows); i++) {
        if (rows[i].first > all || rows[i].count > all - rows[i].first) {
            return 0;
        }
    }
    return 1;
}

#endif
