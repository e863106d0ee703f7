// The heaps of mimalloc that a free-threaded CPython makes its objects in, read as they are.
//
// Each thread has four heaps: for raw memory, for objects without and with the collector, and for those with
// words before them. A heap has lists of pages, by the size of their blocks; a page of a thread that has
// ended lies in a segment of a pool. Blocks that a page has free are chained in three lists: its own, those
// freed since, and those that other threads freed. All others are in use; some that other threads freed are
// still in a list of the heap, and count as in use until the heap looks.
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
static int each_of_segments(const mi_segment_t *segment, mimalloc_look look, void *argument) {
    for (; segment; segment = segment->abandoned_next) {
        const mi_slice_t *end = &segment->slices[segment->slice_entries];
        for (const mi_slice_t *slice = segment->slices; slice < end && slice->slice_count;) {
            int is_page = slice != segment->slices && slice->xblock_size > 0;
            int stop = is_page ? look_at(slice, slice->tag, look, argument) : 0;
            if (stop) {
                return stop;
            }
            slice += slice->slice_count;
        }
    }
    return 0;
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
