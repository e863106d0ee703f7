// Pointers at odd offsets in followed blocks: a packed array of nodes keeps them, as in a trie whose edges
// are a letter and a pointer of 12 bytes each. Words at multiples of eight are found by the search itself.
//
// Only blocks without another pointer are asked for, in the blocks themselves: their size is known, and what
// lies in them is the module's own. Other memory is searched by disguised.c.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/raw_memory/search_parts.h"
#include "memory/addresses.h"
#include "memory/memory.h"

enum { WORD = sizeof(uint64_t) };

typedef struct {
    leak_search *of;
    uint32_t block;
    uintptr_t low, span; // range around the blocks asked for
} packed_walk;

static __attribute__((no_sanitize("address"))) void walk(void *argument) {
    const packed_walk *w = argument;
    leak_search *h = w->of;
    const char *start = (const char *)h->needles[w->block].start;
    for (size_t at = 1; at + WORD <= h->blocks[w->block].bytes; at++) {
        uint64_t value;
        memcpy(&value, start + at, sizeof value);
        if (at % WORD == 0 || value - w->low >= w->span) {
            continue;
        }
        ptrdiff_t to = ranges_at(h->needles, h->count, value);
        if (to >= 0 && to != (ptrdiff_t)w->block && h->reach[to] != LEAK_REACHED &&
            h->edge_count < LEAK_EDGES_MAX) {
            h->edges[h->edge_count++] = (block_edge){w->block, (uint32_t)to};
        }
    }
}

static int by_origin(const void *a, const void *b) {
    uint32_t x = ((const block_edge *)a)->from, y = ((const block_edge *)b)->from;
    return (x > y) - (x < y);
}

int raw_memory_packed(leak_search *h) {
    size_t before = h->edge_count;
    packed_walk w = {.of = h, .low = UINTPTR_MAX};
    for (size_t i = 0; i < h->count; i++) { // by address
        if (h->reach[i] != LEAK_REACHED) {
            w.low = w.low == UINTPTR_MAX ? h->needles[i].start : w.low;
            w.span = h->needles[i].stop - w.low;
        }
    }
    for (size_t i = 0; i < h->count && w.span; i++) {
        w.block = (uint32_t)i;
        memory_guarded(walk, &w); // a block that was unmapped meanwhile keeps nothing
    }
    addresses_sort(h->edges, h->edge_count, sizeof *h->edges, by_origin);
    return h->edge_count > before;
}
