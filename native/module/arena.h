// Memory for the length of one walk, taken from the system and given back to it.
//
// Not malloc: a large block freed raises the size above which glibc maps blocks by themselves (mallopt(3),
// M_MMAP_THRESHOLD), and so a walk would change where the inspected program's next array lies and whether
// its pages are fresh. Nothing here is an object of Python. Who frees: arena_deinit, by the struct's owner.
#ifndef INSPECTOR_ARENA_H
#define INSPECTOR_ARENA_H

#include <stddef.h>
#include <sys/mman.h>

typedef struct {
    void *start;
    size_t bytes;
} arena;

// Makes the room this large: what was in it stays, what is new is zero. 0, or -1 when memory is out.
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

// Asks for huge pages: what is written all over the room then misses the processor's table of pages less.
static inline void arena_huge(const arena *place) {
    madvise(place->start, place->bytes, MADV_HUGEPAGE); // refused where the kernel has none: slower, no more
}

// Makes its first bytes resident in one call: each page of them would else be a fault, when it is first used.
static inline void room_ready(const arena *place, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    madvise(place->start, bytes, MADV_POPULATE_WRITE); // refused before Linux 5.14: slower, no more
#endif
}

static inline void arena_deinit(arena *place) {
    if (place->start) {
        munmap(place->start, place->bytes);
    }
    *place = (arena){NULL, 0};
}

// Pointers waiting to be followed: deep nesting grows this, never the C stack.
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
