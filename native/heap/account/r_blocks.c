// Blocks of malloc that are R's heap: large vectors, and pages of small cells.
//
// R links all its cells, live and free, in rings: a cell is one when both neighbours lead back to it
// (src/main/memory.c: SEXPREC's gengc_next_node, gengc_prev_node). Only asked where libR is loaded.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "heap/account/r_blocks.h"

enum { CHUNK_HEADER = 16, PAGE_HEADER = 8, CELL_NEXT = 16, CELL_PREVIOUS = 24, CELL_LEAST = 48 };
enum { PAGE_LEAST = 7000, PAGE_MOST = 8192 }; // R_PAGE_SIZE, below 8,000, and what malloc adds

int r_is_loaded(const memory_maps *maps) {
    for (size_t i = 0; i < maps->count; i++) {
        if (memmem(maps->rows[i].path, maps->rows[i].path_length, "/libR.so", 8)) {
            return 1;
        }
    }
    return 0;
}

static UNSANITIZED uintptr_t word(const memory_maps *maps, uintptr_t address) {
    const memory_map *map = address % sizeof(uintptr_t) ? NULL : memory_maps_find(maps, address);
    return map && map->permissions[0] == 'r' ? *(const uintptr_t *)address : 0;
}

static int is_cell(const memory_maps *maps, uintptr_t at) {
    uintptr_t next = word(maps, at + CELL_NEXT), previous = word(maps, at + CELL_PREVIOUS);
    return next && previous && word(maps, next + CELL_PREVIOUS) == at &&
           word(maps, previous + CELL_NEXT) == at;
}

int r_block(const memory_maps *maps, uintptr_t start, uintptr_t stop) {
    uintptr_t size = stop - start;
    int may_be_page = size >= PAGE_LEAST && size <= PAGE_MOST;
    return size >= CHUNK_HEADER + CELL_LEAST &&
           (is_cell(maps, start + CHUNK_HEADER) ||
            (may_be_page && is_cell(maps, start + CHUNK_HEADER + PAGE_HEADER)));
}
