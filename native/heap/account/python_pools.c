// Memory that Python's own allocator divides, with the GIL: pools of pymalloc, each proved by its header.
// SPDX-License-Identifier: MIT
#include "heap/account/python_pools.h"
#include "search/pymalloc.h"

#define POOL ((uintptr_t)1 << PYMALLOC_POOL_SHIFT)

int python_pools_init(python_pools *ret, const memory_maps *maps) {
    *ret = (python_pools){.count = 0}; // each proves itself by its header
    return 0;
}

void python_pools_deinit(python_pools *held) { (void)held; }

int python_pool_at(python_pools *pools, uintptr_t at, uintptr_t limit, python_pool *ret) {
    uint32_t live, blocks;
    if (at % POOL || at + POOL > limit || !pymalloc_pool_live(at, &live, &blocks)) {
        return 0;
    }
    *ret = (python_pool){.stop = at + POOL, .live_bytes = live, .blocks = blocks};
    return 1;
}
