// All objects that the collector tracks, from the heaps that they lie in: without the GIL it has no lists.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "objects/objects.h"

#include "module/free_threaded/mimalloc.h"

typedef struct {
    edges_look look;
    void *argument;
} tracked_walk;

static int look_at_page(const mimalloc_page *page, void *argument) {
    const tracked_walk *walk = argument;
    uint64_t live[MIMALLOC_BLOCKS_MAX / 64] = {0};
    int before = mimalloc_before_object(page->heap), stop = 0;
    if (before < 0 || !mimalloc_live(page, live)) {
        return 0;
    }
    for (size_t i = 0; i < page->blocks && !stop; i++) {
        PyObject *object = (PyObject *)(page->start + i * page->block_bytes + (size_t)before);
        if (live[i / 64] >> i % 64 & 1 && compat_gc_tracked(object)) {
            stop = walk->look(object, walk->argument);
        }
    }
    return stop;
}

int edges_each_tracked(edges_look look, void *argument) {
    return mimalloc_each(look_at_page, &(tracked_walk){look, argument});
}
