// Memory that Python's own allocator divides: a pool of pymalloc (python_pools.c); without the GIL a page of
// mimalloc (module/free_threaded/python_pools.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_PYTHON_POOLS_H
#define INSPECTOR_PYTHON_POOLS_H

#include "memory/memory.h"
#include "module/native.h"

typedef struct {
    uintptr_t stop;              // where it ends
    uint64_t live_bytes, blocks; // in use; the allocator's own words are not
    uintptr_t first;             // its blocks one by one, where they are large enough to be claimed; else 0
    size_t block_bytes, room;    // room: how many there are
    const uint64_t *live;        // borrowed: a bit for each block in use
} python_pool;

typedef struct {
    arena rows; // by address
    size_t count;
    arena live; // of the pool that was asked last
} python_pools;

// Nothing changes meanwhile (module/still.h), the guard is armed. 0, or -1: memory is out.
int python_pools_init(python_pools *ret, const memory_maps *maps);
void python_pools_deinit(python_pools *held);
// Guarded. Whether one begins at `at` and ends up to `limit`.
int python_pool_at(python_pools *pools, uintptr_t at, uintptr_t limit, python_pool *ret);

#endif
