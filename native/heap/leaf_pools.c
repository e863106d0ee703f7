// Leaves of the heap, told by their address: objects that can refer to nothing.
//
// A walk meets more leaves than containers: ints, floats, short strings. To ask one for its type is a read of
// memory that is nowhere near, and in a heap that lived for a while that is what a walk waits for. The
// address tells as much. An object of the gc stands behind a header of 16 bytes
// (Include/internal/pycore_gc.h), so what begins where a block of the allocator begins has none, and the gc
// would not ask it either. Of the types that refer to others without the gc (objects/edges.c) the smallest
// takes 80 bytes. So what begins at the start of a block of 64 bytes or less is a leaf. With the debug
// allocator no object begins there, and without pymalloc there are no pools: then nothing is known to be a
// leaf, and the walk asks each object as before.
//
// Pools are proved by their headers (search/pymalloc.c), once each, when an object in them is first met; the
// GIL is held throughout, so a pool stays what it is.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "heap/leaf_pools.h"
#include "memory/memory.h"
#include "objects/objects.h"

enum { LARGEST_LEAF = 64, NO_LEAVES = 1 };

_Static_assert(sizeof(ndarray_fields) > LARGEST_LEAF, "an ndarray refers to its base without the gc");
_Static_assert(sizeof(PyCodeObject) > LARGEST_LEAF, "a code object refers to its constants without the gc");

// Where so many addresses are refused nothing is known: the walk is slower, no more.
void leaf_pools_init(leaf_pools *pools) {
    pools->sizes.bytes = (size_t)1 << (LEAF_POOLS_ADDRESS_BITS - PYMALLOC_POOL_SHIFT);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *start = mmap(NULL, pools->sizes.bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (start == MAP_FAILED) {
        pools->sizes = (arena){NULL, 0};
        return;
    }
    pools->sizes.start = start;
    memory_guard_arm();
}

void leaf_pools_deinit(leaf_pools *pools) {
    if (pools->sizes.start) {
        memory_guard_disarm();
        arena_deinit(&pools->sizes);
    }
}

typedef struct {
    uintptr_t pool;
    uint32_t size;
} pool_question;

static void ask_body(void *argument) {
    pool_question *question = argument;
    question->size = pymalloc_pool_size(question->pool);
}

uint8_t leaf_pools_ask(leaf_pools *pools, uintptr_t address) {
    pool_question question = {address >> PYMALLOC_POOL_SHIFT << PYMALLOC_POOL_SHIFT, 0};
    int lost = memory_guarded(ask_body, &question) < 0;
    int has_leaves = !lost && question.size && question.size <= LARGEST_LEAF;
    uint8_t answer = has_leaves ? (uint8_t)question.size : NO_LEAVES;
    ((uint8_t *)pools->sizes.start)[address >> PYMALLOC_POOL_SHIFT] = answer;
    pools->asked++;
    return answer;
}
