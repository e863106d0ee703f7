// Is an address in a live block of pymalloc, CPython's allocator for up to 512 bytes?
//
// pymalloc cuts arenas (1 MiB) into pools of 16 KiB, aligned; a pool holds blocks of one size behind a
// header of 48 bytes (Objects/obmalloc.c, the same from 3.10 to 3.14). Nothing exported says which
// addresses are pools, so the header must prove it: the number of blocks handed out, the part of the pool
// cut so far and the free list tell the same thing twice, and both must agree to the block. Memory that
// only resembles a header does not survive that. A pool given back keeps its header: no block of it is handed
// out, all are on its free list. What is behind the last block of a pool, cut off when the pool had blocks
// of another size, is free too. Freed blocks keep what they held, but for their first word.
// SPDX-License-Identifier: MIT
#include "search/pymalloc.h"
#include "search/holders.h"

#define POOL_BYTES (1u << PYMALLOC_POOL_SHIFT)
#define POOL_HEADER PYMALLOC_POOL_HEADER
#define ALIGNMENT 16u
#define SIZE_CLASSES 32u

typedef struct {
    uint64_t used; // blocks handed out; the first field is a union with a pointer, of 8 bytes
    uintptr_t free_list, next_pool, previous_pool;
    uint32_t arena, size_class, next_offset, last_offset;
} pool_header;

// The low half of `used` is the count: the union's other half is never written.
static UNSANITIZED uint32_t pool_used(const pool_header *pool) { return (uint32_t)pool->used; }

static UNSANITIZED int pool_is_plausible(const pool_header *pool) {
    if (pool->size_class >= SIZE_CLASSES || pool->arena > 1u << 20) {
        return 0;
    }
    uint32_t size = (pool->size_class + 1) * ALIGNMENT;
    uint32_t room = (POOL_BYTES - POOL_HEADER) / size;
    return pool_used(pool) <= room && pool->last_offset == POOL_BYTES - size &&
           pool->next_offset >= POOL_HEADER && pool->next_offset <= POOL_BYTES + size &&
           (pool->next_offset - POOL_HEADER) % size == 0;
}

// Walks the free list: 1 when it is sound and as long as the counts say; notes whether `block` is on it.
static UNSANITIZED int pool_free_list_agrees(const pool_header *pool, uintptr_t block, int *ret_free) {
    uintptr_t start = (uintptr_t)pool;
    uint32_t size = (pool->size_class + 1) * ALIGNMENT;
    uint32_t cut = (pool->next_offset - POOL_HEADER) / size;
    uint32_t expected = cut - pool_used(pool), length = 0;
    *ret_free = block - start >= pool->next_offset;
    if (cut < pool_used(pool) || !cut) {
        return 0;
    }
    for (uintptr_t at = pool->free_list; at; at = *(const uintptr_t *)at) {
        if (at < start + POOL_HEADER || at >= start + POOL_BYTES || (at - start - POOL_HEADER) % size ||
            ++length > expected) {
            return 0;
        }
        *ret_free |= at == block;
    }
    return length == expected;
}

UNSANITIZED block_state pymalloc_block(uintptr_t word, uintptr_t low, scan_range *ret) {
    const pool_header *pool = (const pool_header *)(word & ~(uintptr_t)(POOL_BYTES - 1));
    uintptr_t offset = word - (uintptr_t)pool;
    if (offset < POOL_HEADER || (uintptr_t)pool < low || !pool_is_plausible(pool)) {
        return BLOCK_NONE;
    }
    uint32_t size = (pool->size_class + 1) * ALIGNMENT;
    uintptr_t start = word - (offset - POOL_HEADER) % size;
    int is_free;
    if (!pool_free_list_agrees(pool, start, &is_free)) {
        return BLOCK_NONE;
    }
    uintptr_t stop = (uintptr_t)pool + POOL_BYTES;
    *ret = (scan_range){start, start + size < stop ? start + size : stop};
    return is_free ? BLOCK_FREE : BLOCK_LIVE;
}

#define HEADER_CHECKS 16u

// As pool_free_list_agrees, but of a long free list the first blocks only: to follow it all would cost what
// the answer saves.
static UNSANITIZED int pool_free_list_begins(const pool_header *pool) {
    uintptr_t start = (uintptr_t)pool, at = pool->free_list;
    uint32_t size = (pool->size_class + 1) * ALIGNMENT;
    uint32_t cut = (pool->next_offset - POOL_HEADER) / size;
    uint32_t expected = cut - pool_used(pool), length = 0;
    if (cut < pool_used(pool) || !pool_used(pool)) {
        return 0;
    }
    for (; at && length < HEADER_CHECKS; at = *(const uintptr_t *)at) {
        if (at < start + POOL_HEADER || at >= start + pool->next_offset ||
            (at - start - POOL_HEADER) % size || ++length > expected) {
            return 0;
        }
    }
    return length == expected || (at && length == HEADER_CHECKS);
}

UNSANITIZED uint32_t pymalloc_pool_size(uintptr_t start) {
    const pool_header *pool = (const pool_header *)start;
    return pool_is_plausible(pool) && pool_free_list_begins(pool) ? (pool->size_class + 1) * ALIGNMENT : 0;
}

UNSANITIZED int pymalloc_pool_live(uintptr_t start, uint32_t *ret_live_bytes, uint32_t *ret_blocks) {
    const pool_header *pool = (const pool_header *)start;
    int ignored;
    if (!pool_is_plausible(pool) || !pool_free_list_agrees(pool, start, &ignored)) {
        return 0;
    }
    *ret_blocks = pool_used(pool);
    *ret_live_bytes = pool_used(pool) * (pool->size_class + 1) * ALIGNMENT;
    return 1;
}

#define PREFETCH_POOLS 16u

typedef struct {
    const scan_runs *runs; // borrowed
    uint32_t size;
    scan_runs *with, *without; // borrowed
} pool_split;

static void split_append(scan_runs *runs, uintptr_t start, uintptr_t stop) {
    if (runs->count && runs->rows[runs->count - 1].stop == start) {
        runs->rows[runs->count - 1].stop = stop;
    } else if (start < stop) {
        runs->rows[runs->count++] = (scan_range){start, stop};
    }
}

static UNSANITIZED void split_body(void *argument) {
    pool_split *split = argument;
    for (size_t i = 0; i < split->runs->count; i++) {
        scan_range run = split->runs->rows[i];
        uintptr_t at = (run.start + POOL_BYTES - 1) & ~(uintptr_t)(POOL_BYTES - 1);
        if (at + POOL_BYTES > run.stop) {
            split_append(split->without, run.start, run.stop);
            continue;
        }
        split_append(split->without, run.start, at);
        for (; at + POOL_BYTES <= run.stop; at += POOL_BYTES) {
            const pool_header *pool = (const pool_header *)at;
            __builtin_prefetch((const char *)at + PREFETCH_POOLS * POOL_BYTES);
            int fits = (pool->size_class + 1) * ALIGNMENT == split->size && pool_is_plausible(pool);
            split_append(fits ? split->with : split->without, at, at + POOL_BYTES);
        }
        split_append(split->without, at, run.stop);
    }
}

int pymalloc_split(const scan_runs *runs, uint32_t size, scan_runs *ret_with, scan_runs *ret_without,
                   scratch *memory) {
    size_t most = runs->count;
    for (size_t i = 0; i < runs->count; i++) {
        most += (runs->rows[i].stop - runs->rows[i].start) / POOL_BYTES;
    }
    *ret_with = (scan_runs){.rows = scratch_alloc(memory, most * sizeof(scan_range))};
    *ret_without = (scan_runs){.rows = scratch_alloc(memory, most * sizeof(scan_range))};
    pool_split split = {runs, size, ret_with, ret_without};
    int is_full = !ret_with->rows || !ret_without->rows;
    return is_full ? -1 : memory_guarded(split_body, &split) < 0;
}
