// The heaps that a free-threaded CPython makes its objects in, as they are while nothing changes: mimalloc.c.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_MIMALLOC_H
#define INSPECTOR_MIMALLOC_H

#include "memory/memory.h"

#define MIMALLOC_BLOCKS_MAX 65536

// Blocks of one size, one after the other.
typedef struct {
    uintptr_t start, stop; // of the page: behind the last block that was ever given out there may be more
    size_t block_bytes, blocks;
    int heap;         // which of the heaps that a thread has: _Py_mimalloc_heap_id
    const void *page; // borrowed: its mi_page_t
} mimalloc_page;

typedef int (*mimalloc_look)(const mimalloc_page *page, void *argument);

// Every page of the interpreter's threads, and of those that ended; 0, or what ended the round. Nothing may
// change meanwhile (module/still.h), and the calling thread makes and frees no object.
int mimalloc_each(mimalloc_look look, void *argument);

// Every slice of every segment in these mappings: pages, and what is none, which has 0 blocks. Pages of no
// heap of Python's threads have the heap MIMALLOC_RAW; their threads may go on meanwhile. The guard is armed.
#define MIMALLOC_RAW (-2)
int mimalloc_each_slice(const memory_maps *maps, mimalloc_look look, void *argument);
uintptr_t mimalloc_slice(const mimalloc_page *page); // where its first slice begins: its blocks do later

// Sets a bit for each block that is in use; `ret` has a bit for each of the page's blocks, and they are 0.
// Returns how many are in use.
size_t mimalloc_live(const mimalloc_page *page, uint64_t *ret);

// Bytes before an object at the start of its block, by its heap; -1 for a heap that has no collected objects.
int mimalloc_before_object(int heap);

#endif
