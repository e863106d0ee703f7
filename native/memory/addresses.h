// Tables of rows that begin with an address, sorted by it: their order, and the search in them.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_ADDRESSES_H
#define INSPECTOR_ADDRESSES_H

#include "memory/memory.h"

// For qsort and addresses_sort.
static inline int addresses_compare(const void *a, const void *b) {
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

enum { ADDRESSES_ROW_MAX = 128 };

static inline void addresses_sift(char *rows, size_t at, size_t count, size_t bytes,
                                  int (*compare)(const void *, const void *)) {
    char held[ADDRESSES_ROW_MAX];
    memcpy(held, rows + at * bytes, bytes);
    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && compare(rows + child * bytes, rows + (child + 1) * bytes) < 0;
        if (compare(held, rows + child * bytes) >= 0) {
            break;
        }
        memcpy(rows + at * bytes, rows + child * bytes, bytes);
        at = child;
    }
    memcpy(rows + at * bytes, held, bytes);
}

// Sorts in place, as a heap. glibc's qsort copies the rows to memory of malloc and frees it: a search of
// memory for these addresses would find them there.
static inline void addresses_sort(void *items, size_t count, size_t bytes,
                                  int (*compare)(const void *, const void *)) {
    char *rows = items, held[ADDRESSES_ROW_MAX];
    for (size_t at = count / 2; at-- > 0;) {
        addresses_sift(rows, at, count, bytes, compare);
    }
    for (size_t left = count; left-- > 1;) {
        memcpy(held, rows, bytes);
        memcpy(rows, rows + left * bytes, bytes);
        memcpy(rows + left * bytes, held, bytes);
        addresses_sift(rows, 0, left, bytes, compare);
    }
}

// How many rows, of `bytes` each, begin below the address.
static inline size_t addresses_below(const void *rows, size_t count, size_t bytes, uintptr_t address) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (*(const uintptr_t *)((const char *)rows + middle * bytes) < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The index of the row that holds the address, or -1. The rows begin with the first address and the one past
// the last, and do not overlap.
static inline ptrdiff_t addresses_find(const void *rows, size_t count, size_t bytes, uintptr_t address) {
    ptrdiff_t at = (ptrdiff_t)addresses_below(rows, count, bytes, address + 1) - 1;
    return at >= 0 && address < ((const uintptr_t *)((const char *)rows + (size_t)at * bytes))[1] ? at : -1;
}

// Whether one of a few ranges, in any order, holds the address.
static inline int addresses_in(const scan_range *ranges, size_t count, uintptr_t address) {
    for (size_t i = 0; i < count; i++) {
        if (address >= ranges[i].start && address < ranges[i].stop) {
            return 1;
        }
    }
    return 0;
}

#endif
