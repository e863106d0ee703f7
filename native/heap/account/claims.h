// Which memory beyond the small blocks live objects use: claims.c.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CLAIMS_H
#define INSPECTOR_CLAIMS_H

#include "heap/tally.h"
#include "module/interrupt.h"

enum { CLAIM_LEAST = 513 }; // bytes: smaller blocks are pymalloc's, which are counted by pool

typedef enum { CLAIM_OBJECT, CLAIM_BUFFER, CLAIM_KINDS } claim_kind;

typedef struct {
    uintptr_t start, stop;
    PyObject *object; // borrowed
    claim_kind kind;
    int is_view; // its memory may be another claim's
} claim;

typedef struct {
    arena place;
    claim *rows;
    size_t count;
    tally small; // blocks of objects that are no claims, by type
} claims;

// Every live object's. Nothing changes meanwhile (module/still.h), and spans_prepare ran. 0, or -1 without an
// exception: `watch` says why.
int claims_collect(claims *ret, PyObject *ours /* borrowed */, interrupt_watch *watch);
// (start, stop, object) tuples from Python; the caller keeps the objects alive. 0, or -1 with an exception
// set.
int claims_add_told(claims *ret, PyObject *told /* borrowed */);
// Sorts them and cuts what two claim, so that none overlap.
void claims_settle(claims *ret);
void claims_deinit(claims *held);

#endif
