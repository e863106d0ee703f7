// The blocks that the object allocator returned in each run (allocation_runs.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_ALLOCATION_RUNS_H
#define INSPECTOR_ALLOCATION_RUNS_H

#include "memory/memory.h"

// The number of the run; 0: allocations are not recorded.
extern int allocation_run __attribute__((visibility("hidden")));
void allocation_runs_add(void *block);
int allocation_runs_remove(void *block); // whether the block was recorded
void allocation_runs_deinit(void);
scan_range allocation_runs_range(void); // the table holds addresses of blocks: searches skip it
// Calls `visit` with each object in such a block, borrowed, and its run. `is_type`: whether a type is there.
void allocation_runs_each(int (*is_type)(uintptr_t), void (*look)(PyObject * /* borrowed */, int));

#endif
