// The blocks that the object allocator gave out in each run (allocation_runs.c).
#ifndef INSPECTOR_ALLOCATION_RUNS_H
#define INSPECTOR_ALLOCATION_RUNS_H

#include "memory/memory.h"

// leaks/raw_memory/allocation_runs.c: blocks given out while allocation_run is not 0, the number of the run.
extern int allocation_run __attribute__((visibility("hidden")));
void allocation_runs_add(void *block);
int allocation_runs_remove(void *block); // whether it was known
void allocation_runs_deinit(void);
scan_range allocation_runs_range(void); // memory that names blocks: a search for blocks leaves it out
// Asks `look` of each object in such a block, borrowed, and its run; `is_type`: whether a type is at an
// address.
void allocation_runs_each(int (*is_type)(uintptr_t), void (*look)(PyObject * /* borrowed */, int));

#endif
