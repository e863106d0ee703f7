// Hooks of allocating and freeing functions in the import slots of all loaded libraries, for sampled growth.
//
// trace/arm/got.c patches calls alone (JUMP_SLOT), not addresses taken as values, which libraries compare. So
// a library that calls malloc by a pointer is not seen, and its blocks are not either: never half of it.
// SPDX-License-Identifier: MIT
#include "leaks/sampled/counted.h"

#include <sys/mman.h>

#define CALL(type, ...) ((type)got_words_of[slot].original)(__VA_ARGS__)
#define ALLOCATED(block, bytes) \
    growth_allocated(got_rows[slot] - GOT_GROWTH_FIRST, block, bytes, __builtin_frame_address(0))

#define HOOK(name, parameters, size, ...) \
    static void *hook_##name parameters { \
        uint32_t slot = ring_here.slot; \
        void *block = CALL(void *(*)parameters, __VA_ARGS__); \
        ALLOCATED(block, size); \
        return block; \
    }
HOOK(size, (size_t bytes), bytes, bytes)
HOOK(second, (size_t first, size_t bytes), bytes, first, bytes)
HOOK(product, (size_t count, size_t each), (count * each), count, each) // an overflow returns no block

// Removes the row before the move: then another thread may get the address.
#define MOVING(name, parameters, size, ...) \
    static void *hook_##name parameters { \
        uint32_t slot = ring_here.slot; \
        growth_row row; \
        int was_there = growth_taken(before, &row); \
        void *block = CALL(void *(*)parameters, __VA_ARGS__); \
        if (was_there && !block && (size) != 0) { \
            growth_put(&row); \
        } \
        ALLOCATED(block, size); \
        return block; \
    }
MOVING(moved, (void *before, size_t bytes), bytes, before, bytes)
MOVING(moved_product, (void *before, size_t count, size_t each), (count * each), before, count, each)

static int hook_stored(void **ret, size_t alignment, size_t bytes) {
    uint32_t slot = ring_here.slot;
    int failed = CALL(int (*)(void **, size_t, size_t), ret, alignment, bytes);
    ALLOCATED(failed ? NULL : *ret, bytes);
    return failed;
}

static void *hook_mapped(void *wanted, size_t bytes, int access, int flags, int file, off_t offset) {
    uint32_t slot = ring_here.slot;
    void *block =
        CALL(void *(*)(void *, size_t, int, int, int, off_t), wanted, bytes, access, flags, file, offset);
    if (flags & MAP_ANONYMOUS) {
        ALLOCATED(block == MAP_FAILED ? NULL : block, bytes);
    }
    return block;
}

static void hook_freed(void *block) {
    uint32_t slot = ring_here.slot;
    growth_freed(block);
    CALL(void (*)(void *), block);
}

static int hook_unmapped(void *start, size_t bytes) {
    uint32_t slot = ring_here.slot;
    growth_unmapped((uintptr_t)start, bytes);
    return CALL(int (*)(void *, size_t), start, bytes);
}

#define GROWTH_ROW(name, hook) {#name, NULL, GOT_GROWTH_FIRST + GROWTH_##name},
GOT_SOURCE(growth_source, GOT_GROWTH_FIRST, GROWTH, GROWTH_IMPORTED);
