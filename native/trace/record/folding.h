// Folds the records of calls of the C API that stand side by side: a conversion of a million elements is
// millions of them, and a ring has room for half a million. Each function keeps its first record, which then
// tells how many more there were, and the time of all.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_FOLDING_H
#define INSPECTOR_FOLDING_H

#include "trace/record/event.h"

// The records [from, head) of a ring whose indexes are masked. Returns the new head; the last record stays as
// it is, for a continuation may follow it.
uint64_t folding_fold(event *records, uint64_t mask, uint64_t from, uint64_t head)
    __attribute__((visibility("hidden")));

#endif
