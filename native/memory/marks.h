// The set of addresses that a walk has seen: one bit for each 16 bytes of address space.
//
// No two objects begin in the same 16 bytes: the smallest object has 16 bytes, at 8-byte alignment. A bitmap
// of 8 KiB covers 1 MiB. It is made when an address first falls into its MiB, and a hash table of MiB numbers
// finds it. A heap of 1.5 GB so costs at most 12 MB, and the rest of a huge page. The set holds no references
// and makes no objects. The owner of the struct frees it by marks_deinit.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_MARKS_H
#define INSPECTOR_MARKS_H

#include "module/arena.h"

#include <stdint.h>

#define MARKS_SHIFT 20
#define MARKS_WORDS ((size_t)1 << (MARKS_SHIFT - 4 - 6))
#define MARKS_STEP ((size_t)1 << 20) // bytes of the first step: bitmaps are mapped in steps
#define MARKS_HUGE \
    ((size_t)8 << 20) // bytes of each further step, in huge pages: a large heap sets bits all over

typedef struct {
    uintptr_t number; // of the MiB, plus 1; 0 for a free row
    uint64_t *bits;   // in one of the steps
} marks_row;

typedef struct {
    arena table;     // of rows
    marks_row *rows; // a power of two of them
    size_t capacity;
    size_t used;
    arena step; // the next bitmap is taken from it; its first bytes hold the previous step
    size_t step_used;
    marks_row last; // the row found last: consecutive addresses are mostly close together
} marks;

static inline int marks_init(marks *seen) {
    *seen = (marks){.capacity = 1024};
    if (arena_resize(&seen->table, seen->capacity * sizeof(marks_row)) < 0) {
        return -1;
    }
    seen->rows = seen->table.start;
    return 0;
}

static inline void marks_deinit(marks *seen) {
    while (seen->step.start) {
        arena before = *(arena *)seen->step.start;
        arena_deinit(&seen->step);
        seen->step = before;
    }
    arena_deinit(&seen->table);
}

// A zeroed bitmap, or NULL. The unused part of a step is never touched: it costs address space only.
static inline uint64_t *marks_bitmap_make(marks *seen) {
    size_t bytes = MARKS_WORDS * sizeof(uint64_t);
    if (!seen->step.start || seen->step_used + bytes > seen->step.bytes) {
        arena step = {NULL, 0};
        if (arena_resize(&step, seen->step.start ? MARKS_HUGE : MARKS_STEP) < 0) {
            return NULL;
        }
        if (seen->step.start) {
            arena_huge(&step);
        }
        *(arena *)step.start = seen->step;
        seen->step = step;
        seen->step_used = 4096;
    }
    uint64_t *bits = (uint64_t *)((char *)seen->step.start + seen->step_used);
    seen->step_used += bytes;
    return bits;
}

static inline size_t marks_bytes(const marks *seen) {
    return seen->capacity * sizeof(marks_row) + seen->used * MARKS_WORDS * sizeof(uint64_t);
}

static inline marks_row *marks_find(marks_row *rows, size_t capacity, uintptr_t number) {
    size_t i = (size_t)(number * 0x9E3779B97F4A7C15ull >> 32) & (capacity - 1);
    while (rows[i].number && rows[i].number != number) {
        i = (i + 1) & (capacity - 1);
    }
    return &rows[i];
}

static inline int marks_grow(marks *seen) {
    arena table = {NULL, 0};
    size_t capacity = seen->capacity * 2;
    if (arena_resize(&table, capacity * sizeof(marks_row)) < 0) {
        return -1;
    }
    for (size_t i = 0; i < seen->capacity; i++) {
        if (seen->rows[i].number) {
            *marks_find(table.start, capacity, seen->rows[i].number) = seen->rows[i];
        }
    }
    arena_deinit(&seen->table);
    seen->table = table;
    seen->rows = table.start;
    seen->capacity = capacity;
    return 0;
}

// The bitmap of the MiB with this number, created if there is none; NULL when out of memory.
static inline uint64_t *marks_bitmap(marks *seen, uintptr_t number) {
    if (seen->last.number == number) {
        return seen->last.bits;
    }
    if (seen->used * 2 > seen->capacity && marks_grow(seen) < 0) {
        return NULL;
    }
    marks_row *row = marks_find(seen->rows, seen->capacity, number);
    if (!row->number) {
        uint64_t *bits = marks_bitmap_make(seen);
        if (!bits) {
            return NULL;
        }
        *row = (marks_row){number, bits};
        seen->used++;
    }
    seen->last = *row;
    return row->bits;
}

// The word that holds the address's bit; NULL when out of memory. The word never moves.
static inline uint64_t *marks_word(marks *seen, const void *address) {
    uintptr_t at = (uintptr_t)address;
    uint64_t *bits = marks_bitmap(seen, (at >> MARKS_SHIFT) + 1);
    return bits ? &bits[(at >> 10) & (MARKS_WORDS - 1)] : NULL;
}

// Marks the address. Returns 1 if it was not marked before, 0 if it was.
static inline int marks_set(uint64_t *word, const void *address) {
    uint64_t bit = (uint64_t)1 << (((uintptr_t)address >> 4) & 63);
    int fresh = !(*word & bit);
    *word |= bit;
    return fresh;
}

// The same for an address whose word is not known; -1 when out of memory.
static inline int marks_add(marks *seen, const void *address) {
    uint64_t *word = marks_word(seen, address);
    return word ? marks_set(word, address) : -1;
}

static inline int marks_has(const marks *seen, const void *address) {
    uintptr_t at = (uintptr_t)address;
    const marks_row *row = marks_find(seen->rows, seen->capacity, (at >> MARKS_SHIFT) + 1);
    return row->number && (row->bits[(at >> 10) & (MARKS_WORDS - 1)] >> ((at >> 4) & 63) & 1);
}

// A number below the capacity, the same for all marked addresses of one MiB; valid until the next mark.
static inline size_t marks_slot(const marks *seen, const void *address) {
    return (size_t)(marks_find(seen->rows, seen->capacity, ((uintptr_t)address >> MARKS_SHIFT) + 1) -
                    seen->rows);
}

#endif
