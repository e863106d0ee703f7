// Addresses that nobody has had lately, for blocks that are followed.
//
// A block that malloc takes from a list of free ones has an address of which old pointers still lie about: in
// words that a later owner never wrote, at ends of blocks that nobody asked for. A search takes them for
// owners, and a block that was forgotten looks kept. (Valgrind keeps freed blocks apart for the same reason.)
// So while blocks are followed, what glibc's main arena has free is asked for and held, emptied, until
// malloc gives memory from the top of its heap.
//
// Limits. HELD_MAX blocks, HELD_BYTES_MAX bytes; the main arena alone; blocks freed later are given out again
// as ever. Who frees: outside_fresh_end.
#define _GNU_SOURCE
#include "outside.h"

#include <malloc.h>
#include <unistd.h>

enum { HELD_MAX = 1 << 14, HELD_BYTES_MAX = 32 << 20, LARGEST_CACHED = 1032, STEP = 16, SMALLEST = 24 };

static void *held[HELD_MAX]; // owned
static size_t held_count, held_bytes;

// Asks for blocks of one size until one comes from the top; 0: there is no more room to hold them.
static int drain(size_t bytes, uintptr_t top, uintptr_t stop) {
    while (held_count < HELD_MAX && held_bytes < HELD_BYTES_MAX) {
        void *block = malloc(bytes);
        held[held_count] = block;
        held_count += block != NULL;
        held_bytes += bytes;
        if (!block || (uintptr_t)block >= top || (uintptr_t)block >= stop) {
            return 1;
        }
        memset(block, 0, bytes); // it is no dead block any more: its old words would be taken for owners
    }
    return 0;
}

void outside_fresh_begin(void) {
    uintptr_t stop = (uintptr_t)sbrk(0), top = stop - mallinfo2().keepcost;
    static const size_t large[] = {1 << 16, 1 << 14, 1 << 12};
    void *probe = malloc(SMALLEST);
    int is_main_arena = probe && (uintptr_t)probe < stop && stop - (uintptr_t)probe < (uintptr_t)1 << 36;
    free(probe);
    if (!is_main_arena) {
        return; // another allocator's, or a thread's arena
    }
    for (size_t i = 0; i < sizeof large / sizeof *large && drain(large[i], top, stop); i++) {
    }
    for (size_t bytes = LARGEST_CACHED; bytes >= SMALLEST && drain(bytes, top, stop); bytes -= STEP) {
    }
}

void outside_fresh_end(void) {
    while (held_count) {
        free(held[--held_count]);
    }
    held_bytes = 0;
}
