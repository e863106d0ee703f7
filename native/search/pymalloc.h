// Pools of pymalloc, for those who know where one would begin: pymalloc.c.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_PYMALLOC_H
#define INSPECTOR_PYMALLOC_H

#include <stdint.h>

#define PYMALLOC_POOL_SHIFT 14
#define PYMALLOC_POOL_HEADER 48u

// Guarded (memory/memory.c). The size of the blocks of the pool that begins here; 0 where its header proves
// none.
uint32_t pymalloc_pool_size(uintptr_t start);

// Guarded. Bytes and number of the live blocks of the pool that begins here: 1, or 0 where none is proved.
int pymalloc_pool_live(uintptr_t start, uint32_t *ret_live_bytes, uint32_t *ret_blocks);

#endif
