// What the trace of lazy vectors keeps, and the rows that it writes.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_R_LAZY_TRACE_H
#define INSPECTOR_R_LAZY_TRACE_H

#include "r/r.h"

enum { VECTORS_MAX = 1 << 16, LEAST_BYTES = 10000 };

typedef struct {
    r_object address;
    r_object class_table;
    ptrdiff_t length; // -1: not asked yet
    int number, statement, type;
    uint32_t elements, regions; // read in this statement
    uint32_t strings;           // made by reading them in this statement: R keeps them from then on
    uint8_t is_written, is_named;
    uint8_t is_bound, was_bound; // whether its name still had it after this statement, and before
} lazy_vector;

typedef struct {
    FILE *file;    // NULL: nothing is noted; flushed after each row, so that a forked child has none to write
    int statement; // the number of the one that runs; 0: start-up
    int is_inside; // our own code asks R, or a method reads its own vector
    int class_count, vector_count;
    int numbers; // of vectors so far
    uint64_t left_out, small;
    lazy_vector vectors[VECTORS_MAX];
} lazy_trace;

extern lazy_trace lazy;

// The vector that was made at an address; NULL for none.
lazy_vector *lazy_vector_of(r_object address);

// Notes a vector of this statement; -1: its length is not asked yet. NULL where there is no room.
lazy_vector *lazy_vector_add(r_object address, r_object table, ptrdiff_t length);

// Whether a vector is not told: it has no name, and few bytes. R makes many of them inside.
int lazy_is_small(const lazy_vector *one);

// Forgets the small ones, so that there is room.
void lazy_forget_small(void);

// Writes ", "calls": R's functions, outermost first, "frames": C's, innermost first".
void lazy_write_stacks(void);

// Gives vectors the names that the global environment has for them. Promises and active bindings are left.
void lazy_find_names(void);

// Writes the vectors that this statement made or read.
void lazy_write_statement(void);

#endif
