// Leaves of the heap, told by their address: leaf_pools.c.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LEAF_POOLS_H
#define INSPECTOR_LEAF_POOLS_H

#include "module/native.h"
#include "search/pymalloc.h"

#include <stdint.h>

#define LEAF_POOLS_ADDRESS_BITS 47 // of a process (mmap(2) gives no others unasked)

#ifdef Py_GIL_DISABLED // there are no pools: each object met is asked
typedef struct {
    size_t asked;
} leaf_pools;

static inline void leaf_pools_init(leaf_pools *pools) { pools->asked = 0; }
static inline void leaf_pools_deinit(leaf_pools *pools) { (void)pools; }
static inline int leaf_pools_has(leaf_pools *pools, const void *object) {
    return (void)pools, (void)object, 0;
}
#else
typedef struct {
    arena sizes; // a byte for each pool there could be; pages never asked about cost addresses only
    size_t asked;
} leaf_pools;

void leaf_pools_init(leaf_pools *pools);
void leaf_pools_deinit(leaf_pools *pools);

// The block size of the pool with this address, where its blocks are small; another number where not.
uint8_t leaf_pools_ask(leaf_pools *pools, uintptr_t address);

// Whether the live object at this address can refer to nothing; 0 where that is not known. Asked of each
// object met: whether its block begins here is a multiplication, as a division would take a tenth of the walk
// (x * ceil(2^32 / d) mod 2^32 is less than ceil(2^32 / d) just where d divides x, of so few bits).
static inline int leaf_pools_has(leaf_pools *pools, const void *object) {
    static const uint32_t parts[] = {0, UINT32_MAX / 16 + 1, UINT32_MAX / 32 + 1, UINT32_MAX / 48 + 1,
                                     UINT32_MAX / 64 + 1}; // none for pools without leaves
    uintptr_t at = (uintptr_t)object;
    if (!pools->sizes.start || at >> LEAF_POOLS_ADDRESS_BITS) {
        return 0;
    }
    uint8_t known = ((uint8_t *)pools->sizes.start)[at >> PYMALLOC_POOL_SHIFT];
    uint8_t block = known ? known : leaf_pools_ask(pools, at);
    uint32_t offset = (uint32_t)(at & (((uintptr_t)1 << PYMALLOC_POOL_SHIFT) - 1)) - PYMALLOC_POOL_HEADER;
    return offset * parts[block >> 4] < parts[block >> 4];
}
#endif

#endif
