// The heaps of mimalloc that a free-threaded CPython makes its objects in, read as they are.
//
// Each thread has four heaps: for raw memory, for objects without and with the collector, and for those with
// words before them. A heap has lists of pages, by the size of their blocks; a page of a thread that has
// ended lies in a segment of a pool. Blocks that a page has free are chained in three lists: its own, those
// freed since, and those that other threads freed. All others are in use; some that other threads freed are
// still in a list of the heap, and count as in use until the heap looks.
//
// From 3.15 on raw memory has heaps of its own, which no thread state leads to: their segments are found
// where one may begin.
//
// Where blocks begin in a page follows from its place in its segment; CPython has no exported function for
// it. A page of whose free blocks one does not begin where a block begins is left out.
// Source: Include/internal/mimalloc/mimalloc/types.h, Objects/mimalloc/segment.c; the same in 3.14 and 3.15.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "module/native.h"

#include <internal/pycore_mimalloc.h>
#include <internal/pycore_tstate.h>

#include "module/free_threaded/mimalloc.h"

enum { SMALL = 64, MEDIUM = 512, BEFORE_SMALL = 3 };

static size_t block_bytes(const mi_page_t *page) {
    return page->xblock_size < MI_HUGE_BLOCK_SIZE ? page->xblock_size
                                                  : (size_t)page->slice_count * MI_SEGMENT_SLICE_SIZE;
}

static mimalloc_page page_of(const mi_page_t *page, int heap) {
    const mi_segment_t *segment = (const mi_segment_t *)((uintptr_t)page & ~MI_SEGMENT_MASK);
    uintptr_t start = (uintptr_t)segment + (size_t)(page - segment->slices) * MI_SEGMENT_SLICE_SIZE;
    size_t bytes = block_bytes(page);
    size_t before = bytes <= SMALL ? BEFORE_SMALL * bytes : bytes <= MEDIUM ? bytes : 0;
    return (mimalloc_page){start + before, start + (size_t)page->slice_count * MI_SEGMENT_SLICE_SIZE,
                           bytes,          page->capacity,
                           heap,           page};
}

uintptr_t mimalloc_slice(const mimalloc_page *page) {
    const mi_segment_t *segment = (const mi_segment_t *)((uintptr_t)page->page & ~MI_SEGMENT_MASK);
    size_t number = (size_t)((const mi_page_t *)page->page - segment->slices);
    return (uintptr_t)segment + number * MI_SEGMENT_SLICE_SIZE;
}

static int begins_block(const mimalloc_page *page, uintptr_t block) {
    return block >= page->start && block < page->stop && (block - page->start) % page->block_bytes == 0;
}

static int look_at(const mi_page_t *page, int heap, mimalloc_look look, void *argument) {
    mimalloc_page found = page_of(page, heap);
    uintptr_t free_block = (uintptr_t)(page->free ? page->free : page->local_free);
    int is_known = found.block_bytes && found.start + found.blocks * found.block_bytes <= found.stop &&
                   (!free_block || begins_block(&found, free_block));
    return is_known ? look(&found, argument) : 0;
}

static int each_of_heap(const mi_heap_t *heap, int number, mimalloc_look look, void *argument) {
    for (size_t bin = 0; bin <= MI_BIN_FULL; bin++) {
        for (const mi_page_t *page = heap->pages[bin].first; page; page = page->next) {
            int stop = look_at(page, number, look, argument);
            if (stop) {
                return stop;
            }
        }
    }
    return 0;
}

static int each_of_thread(PyThreadState *thread, mimalloc_look look, void *argument) {
    const struct _mimalloc_thread_state *of = &((_PyThreadStateImpl *)thread)->mimalloc;
    int stop = 0;
    for (int i = 0; of->initialized && i < _Py_MIMALLOC_HEAP_COUNT && !stop; i++) {
        stop = each_of_heap(&of->heaps[i], i, look, argument);
    }
    return stop;
}

// The first entry of a segment's table is what the segment says of itself.
typedef enum { HEAPS_OF_PAGES, HEAPS_AND_REST, RAW_AND_REST } segment_part;

static int each_of_segment(const mi_segment_t *segment, segment_part part, mimalloc_look look,
                           void *argument) {
    const mi_slice_t *end = &segment->slices[segment->slice_entries];
    for (const mi_slice_t *slice = segment->slices; slice < end && slice->slice_count;) {
        int is_page = slice != segment->slices && slice->xblock_size > 0;
        mimalloc_page none = page_of(slice, -1);
        none.start = mimalloc_slice(&none);
        none.blocks = 0;
        int heap = part == RAW_AND_REST ? MIMALLOC_RAW : slice->tag;
        int stop = is_page ? look_at(slice, heap, look, argument) : part ? look(&none, argument) : 0;
        if (stop) {
            return stop;
        }
        slice += slice->slice_count;
    }
    return 0;
}

static int each_of_segments(const mi_segment_t *segment, mimalloc_look look, void *argument) {
    int stop = 0;
    for (; segment && !stop; segment = segment->abandoned_next) {
        stop = each_of_segment(segment, HEAPS_OF_PAGES, look, argument);
    }
    return stop;
}

int mimalloc_each(mimalloc_look look, void *argument) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    int stop = 0;
    for (PyThreadState *at = PyInterpreterState_ThreadHead(interpreter); at && !stop;
         at = PyThreadState_Next(at)) {
        stop = each_of_thread(at, look, argument);
    }
    mi_abandoned_pool_t *pool = &interpreter->mimalloc.abandoned_pool;
    uintptr_t first = (uintptr_t)pool->abandoned & ~MI_SEGMENT_MASK; // the bits below are a counter
    stop = stop ? stop : each_of_segments((const mi_segment_t *)first, look, argument);
    return stop ? stop : each_of_segments(pool->abandoned_visited, look, argument);
}

static int note_segment(const mimalloc_page *page, void *argument) {
    arena_stack *segments = argument;
    void *segment = (void *)((uintptr_t)page->page & ~MI_SEGMENT_MASK);
    for (size_t i = segments->used; i-- > 0;) { // pages of one segment come together
        if (((void **)segments->items.start)[i] == segment) {
            return 0;
        }
    }
    return arena_push(segments, segment);
}

typedef struct {
    const memory_maps *maps;
    const arena_stack *known; // of void *
    mimalloc_look look;
    void *argument;
    int stop;
} raw_segments;

// A segment has its own address in it, in a code that all of the process share.
static int is_segment(const raw_segments *to, const mi_segment_t *segment) {
    const mi_segment_t *known = ((void **)to->known->items.start)[0];
    for (size_t i = 0; i < to->known->used; i++) {
        if (((void **)to->known->items.start)[i] == segment) {
            return 0;
        }
    }
    return (segment->cookie ^ (uintptr_t)segment) == (known->cookie ^ (uintptr_t)known) &&
           segment->slice_entries <= MI_SLICES_PER_SEGMENT;
}

static void look_at_raw(void *argument) {
    raw_segments *to = argument;
    for (size_t i = 0; i < to->maps->count && !to->stop; i++) {
        const memory_map *map = &to->maps->rows[i];
        uintptr_t at = (map->start + MI_SEGMENT_MASK) & ~MI_SEGMENT_MASK;
        int is_private = memcmp(map->permissions, "rw-p", 4) == 0 && !map->path_length;
        for (; is_private && at + sizeof(mi_segment_t) <= map->stop && !to->stop; at += MI_SEGMENT_SIZE) {
            if (is_segment(to, (const mi_segment_t *)at)) {
                to->stop = each_of_segment((const mi_segment_t *)at, RAW_AND_REST, to->look, to->argument);
            }
        }
    }
}

int mimalloc_each_slice(const memory_maps *maps, mimalloc_look look, void *argument) {
    arena_stack segments = {.used = 0};
    raw_segments raw = {maps, &segments, look, argument, mimalloc_each(note_segment, &segments)};
    for (size_t i = 0; i < segments.used && !raw.stop; i++) {
        raw.stop = each_of_segment(((void **)segments.items.start)[i], HEAPS_AND_REST, look, argument);
    }
    if (segments.used && !raw.stop) {
        memory_guarded(look_at_raw, &raw); // what vanishes meanwhile ends the look
    }
    arena_deinit(&segments.items);
    return raw.stop;
}

static size_t take_list(const mimalloc_page *page, uintptr_t block, uint64_t *ret) {
    size_t taken = 0;
    for (; block && begins_block(page, block) && taken < page->blocks; taken++) {
        size_t i = (block - page->start) / page->block_bytes;
        ret[i / 64] &= ~((uint64_t)1 << i % 64);
        block = ((const mi_block_t *)block)->next;
    }
    return taken;
}

size_t mimalloc_live(const mimalloc_page *page, uint64_t *ret) {
    const mi_page_t *of = page->page;
    for (size_t i = 0; i < page->blocks; i++) {
        ret[i / 64] |= (uint64_t)1 << i % 64;
    }
    size_t unused = take_list(page, (uintptr_t)of->free, ret);
    unused += take_list(page, (uintptr_t)of->local_free, ret);
    unused += take_list(page, of->xthread_free & ~(uintptr_t)3, ret);
    return page->blocks - unused;
}

// With the debug allocator two words more stand before each block: the interpreter's own dict tells.
static int before_block(void) {
    uintptr_t known = (uintptr_t)PyInterpreterState_Get()->sysdict;
    mimalloc_page page = page_of(_mi_segment_page_of(_mi_ptr_segment((void *)known), (void *)known), 0);
    return begins_block(&page, known) ? 0 : 2 * (int)sizeof(size_t);
}

int mimalloc_before_object(int heap) {
    return heap == _Py_MIMALLOC_HEAP_GC       ? before_block()
           : heap == _Py_MIMALLOC_HEAP_GC_PRE ? before_block() + 2 * (int)sizeof(PyObject *)
                                              : -1;
}
