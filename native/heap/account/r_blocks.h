// Which blocks of malloc are R's: r_blocks.c.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_R_BLOCKS_H
#define INSPECTOR_R_BLOCKS_H

#include "memory/memory.h"

int r_is_loaded(const memory_maps *maps);
// Whether a live block, its header included, holds cells of R. Guarded.
int r_block(const memory_maps *maps, uintptr_t start, uintptr_t stop);

#endif
