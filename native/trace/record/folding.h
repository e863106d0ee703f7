// Adds up calls that repeat: a loop of a million conversions is ten million records, and a ring has room for
// half a million. The first call of each shape keeps its records, which then tell how many more there were,
// the time of all, and the bytes of their results.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_FOLDING_H
#define INSPECTOR_FOLDING_H

#include "trace/record/event.h"

enum { FOLDING_MOST = 1 << 13 }; // records that are looked at together

// The records of a ring whose indexes are masked.
typedef struct {
    event *records;
    uint64_t mask;
} folding_ring;

// Adds up the records [from, head), at most FOLDING_MOST, in memory of its own. Returns how many are left, or
// 0 where another thread folds. The last call stays as it is, for a continuation may follow it; *ret_last is
// the number of its records.
uint32_t folding_fold(folding_ring in, uint64_t from, uint64_t head, uint32_t *ret_last)
    __attribute__((visibility("hidden")));
// Writes them to the ring from index `from` on; then another thread may fold.
void folding_write(folding_ring in, uint64_t from, uint32_t count) __attribute__((visibility("hidden")));
void folding_forked(void) __attribute__((visibility("hidden")));

#endif
