// Whether a block without pointers to it is still allocated, as its allocator says.
//
// The chunk header shows a block that was freed where no hook saw it (getline, a call inside libc). The table
// of leaks/raw_memory/followed.c shows one that another thread freed or moved during the search, since its
// hooks stay active. A block that holds an object is excluded: leaks/ledger.c checks its references.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/raw_memory/search_parts.h"
#include "memory/memory.h"

typedef struct {
    search *s;
    uintptr_t address, first;
    block_state state;
    scan_range block;
} state_query;

// An unwritten block from the thread cache holds its link, as the last one of a fast bin does.
static __attribute__((no_sanitize("address"))) int is_unwritten(const state_query *q) {
    const uintptr_t *words = (const uintptr_t *)q->address;
    return words[0] == q->first && words[0] == q->address >> 12 && words[1] != q->s->view.malloc.tcache_key;
}

static __attribute__((no_sanitize("address"))) void state_body(void *argument) {
    state_query *q = argument;
    const memory_map *map = memory_maps_find(&q->s->view.maps, q->address);
    q->state = map ? pymalloc_block(q->address, map->start, &q->block) : BLOCK_FREE;
    if (q->state == BLOCK_NONE) {
        q->state = malloc_block(&q->s->view.malloc, q->address, &q->block);
        q->state = q->state == BLOCK_FREE && is_unwritten(q) ? BLOCK_LIVE : q->state;
    }
}

static int is_object(search *s, uintptr_t address) {
    place found;
    search_place_guarded(s, address, &found);
    return found.object != NULL;
}

// A block begins where its allocator says, or behind the prefix of one debug allocator or of two.
static int begins_at(const state_query *q) {
    uintptr_t prefix = q->s->view.object_prefix < 0 ? 0 : (uintptr_t)q->s->view.object_prefix;
    uintptr_t before = q->address - q->block.start;
    return before == 0 || before == prefix || before == 2 * prefix;
}

int raw_memory_is_live(search *s, const raw_memory_block *one) {
    uintptr_t address = ~one->hidden;
    state_query q = {.s = s, .address = address, .first = ~one->hidden_first, .state = BLOCK_LOST};
    if (!raw_memory_has(one) || memory_guarded(state_body, &q) < 0 || is_object(s, address)) {
        return 0;
    }
    return q.state == BLOCK_LIVE ? (begins_at(&q) ? 1 : -1) : q.state == BLOCK_FREE ? 0 : -1;
}
