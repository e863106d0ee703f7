// Pages of CPython's mimalloc by address, for the account: a segment's table has all of them, and what is
// free.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "heap/account/python_pools.h"
#include "heap/account/claims.h"
#include "memory/addresses.h"
#include "module/free_threaded/mimalloc.h"

typedef struct {
    uintptr_t start; // of a slice of a segment
    mimalloc_page page;
} pool_row;

static int add(const mimalloc_page *page, void *argument) {
    python_pools *pools = argument;
    if ((pools->count + 1) * sizeof(pool_row) > pools->rows.bytes &&
        arena_resize(&pools->rows, pools->rows.bytes ? pools->rows.bytes * 2 : 1 << 16) < 0) {
        return -1;
    }
    ((pool_row *)pools->rows.start)[pools->count++] = (pool_row){mimalloc_slice(page), *page};
    return 0;
}

int python_pools_init(python_pools *ret, const memory_maps *maps) {
    *ret = (python_pools){.count = 0};
    if (arena_resize(&ret->live, MIMALLOC_BLOCKS_MAX / 8) < 0 || mimalloc_each_slice(maps, add, ret) < 0) {
        return -1;
    }
    if (ret->count) {
        qsort(ret->rows.start, ret->count, sizeof(pool_row), addresses_compare);
    }
    return 0;
}

void python_pools_deinit(python_pools *held) {
    arena_deinit(&held->rows);
    arena_deinit(&held->live);
}

int python_pool_at(python_pools *pools, uintptr_t at, uintptr_t limit, python_pool *ret) {
    const pool_row *rows = pools->rows.start;
    size_t below = addresses_below(rows, pools->count, sizeof *rows, at + 1);
    const mimalloc_page *page = below ? &rows[below - 1].page : NULL;
    int begins = page && rows[below - 1].start == at && page->stop <= limit;
    if (!page || page->stop <= at || (page->blocks && !begins)) {
        return 0;
    }
    *ret = (python_pool){.stop = page->stop < limit ? page->stop : limit}; // not all that is free is mapped
    if (page->blocks) {
        memset(pools->live.start, 0, pools->live.bytes);
        ret->blocks = mimalloc_live(page, pools->live.start);
        ret->live_bytes = ret->blocks * page->block_bytes;
        ret->first = page->block_bytes >= CLAIM_LEAST || page->heap == MIMALLOC_RAW ? page->start : 0;
        ret->block_bytes = page->block_bytes;
        ret->room = page->blocks;
        ret->live = pools->live.start;
    }
    return 1;
}
