// Memory for one walk, mapped from the system and unmapped afterwards.
//
// malloc is not used: freeing a large block raises glibc's mmap threshold (mallopt(3), M_MMAP_THRESHOLD). The
// walk would change where the inspected program's next array lies, and whether its pages are fresh. An arena
// holds no Python objects. The owner of the struct frees it by arena_deinit.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_ARENA_H
#define INSPECTOR_ARENA_H

#include <stddef.h>
#include <sys/mman.h>

typedef struct {
    void *start;
    size_t bytes;
} arena;

// Resizes the arena: old contents stay, new bytes are zero. 0, or -1 when out of memory.
static inline int arena_resize(arena *place, size_t bytes) {
    void *start = place->start
                      ? mremap(place->start, place->bytes, bytes, MREMAP_MAYMOVE)
                      : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return -1;
    }
    place->start = start;
    place->bytes = bytes;
    return 0;
}

// Requests huge pages: writes scattered over the arena then miss the TLB less often.
static inline void arena_huge(const arena *place) {
    madvise(place->start, place->bytes, MADV_HUGEPAGE); // fails where the kernel has none: only slower
}

// Faults in the arena's first bytes in one call, instead of one page fault at the first use of each page.
static inline void room_ready(const arena *place, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    madvise(place->start, bytes, MADV_POPULATE_WRITE); // fails before Linux 5.14: only slower
#endif
}

static inline void arena_deinit(arena *place) {
    if (place->start) {
        munmap(place->start, place->bytes);
    }
    *place = (arena){NULL, 0};
}

// A stack of pointers still to follow: deep nesting grows it, not the C stack.
typedef struct {
    arena items;
    size_t used;
} arena_stack;

static inline int arena_push(arena_stack *stack, void *pointer) {
    if ((stack->used + 1) * sizeof(void *) > stack->items.bytes &&
        arena_resize(&stack->items, stack->items.bytes ? stack->items.bytes * 2 : 1 << 16) < 0) {
        return -1;
    }
    ((void **)stack->items.start)[stack->used++] = pointer;
    return 0;
}

static inline void *arena_pop(arena_stack *stack) { return ((void **)stack->items.start)[--stack->used]; }

#endif
