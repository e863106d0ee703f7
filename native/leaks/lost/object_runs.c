// Memory in which an object may begin: of a large block with a mapping of its own only the first page.
// A search for instances of types then reads no data of large arrays.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/lost/lost.h"

#define PAGE ((uintptr_t)4096)
enum { LARGE_BLOCKS_MAX = 1 << 14 };

typedef struct {
    const scan_runs *from; // borrowed
    const memory_maps *maps;
    scan_runs to;
    size_t most;
} cut;

static void add(cut *c, uintptr_t start, uintptr_t stop) {
    if (start < stop) {
        c->to.rows[c->to.count++] = (scan_range){start, stop};
        c->to.bytes += stop - start;
    }
}

// Where the large block ends that begins at this page, or 0.
static UNSANITIZED uintptr_t block_end(const cut *c, uintptr_t page) {
    uintptr_t size = malloc_mapped_size(page, UINTPTR_MAX);
    const memory_map *map = size ? memory_maps_find(c->maps, page) : NULL;
    return map && size <= map->stop - page ? page + size : 0;
}

static void cut_body(void *argument) {
    cut *c = argument;
    uintptr_t after = 0; // the last large block
    for (size_t i = 0; i < c->from->count; i++) {
        uintptr_t stop = c->from->rows[i].stop, start = c->from->rows[i].start;
        start = start < after ? after : start;
        for (uintptr_t at = (start + PAGE - 1) & ~(PAGE - 1); at + PAGE <= stop;) {
            after = c->to.count + (c->from->count - i) < c->most ? block_end(c, at) : 0;
            if (after) {
                add(c, start, at + PAGE);
                start = after;
            }
            at = after ? after : at + PAGE;
        }
        add(c, start, stop);
    }
}

int lost_object_runs(const lost_walk *w, scan_runs *ret, scratch *memory) {
    const scan_runs *from = &w->h.s.runs;
    cut c = {from, &w->h.s.view.maps, *from, from->count + LARGE_BLOCKS_MAX};
    c.to.rows = scratch_alloc(memory, c.most * sizeof *c.to.rows);
    c.to.count = c.to.bytes = 0;
    if (!c.to.rows) {
        return -1;
    }
    *ret = memory_guarded(cut_body, &c) == 0 ? c.to : *from;
    return 0;
}
