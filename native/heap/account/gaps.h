// Memory that no allocator's structure explains: gaps.c.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_GAPS_H
#define INSPECTOR_GAPS_H

#include "memory/memory.h"

enum { GAPS_MAX = 4096 };

typedef struct {
    uintptr_t start, stop;
    uint64_t resident; // bytes
} gap;

typedef struct {
    gap *rows; // borrowed: in the scratch, by address
    size_t count;
} gap_table;

// [(start, stop, resident bytes, file whose data leads there or "", how many words)]. The guard is armed. New
// list, or NULL with an exception set.
PyObject *gaps_rows(const gap_table *gaps, const scan_runs *runs, scratch *memory);

#endif
