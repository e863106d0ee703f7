// Addresses that nobody has had lately, for blocks that are followed.
//
// A block that malloc takes from a list of free ones has an address of which old pointers still lie about: in
// words that a later owner never wrote, at ends of blocks that nobody asked for. A search takes them for
// owners, and a block that was forgotten looks kept. (Valgrind keeps freed blocks apart for the same reason.)
// So while blocks are followed, what glibc's main arena has free is asked for and held, emptied, until
// malloc gives memory from the top of its heap. The top itself was used too, as far as blocks before it were
// freed and joined it: it is held to its end, and to where the last time ended, within AHEAD_MAX.
//
// Limits. HELD_MAX blocks, HELD_BYTES_MAX bytes; the main arena alone; blocks freed later are given out again
// as ever. Who frees: raw_memory_fresh_end.
#define _GNU_SOURCE
#include "leaks/raw_memory/followed.h"

#include <malloc.h>
#include <unistd.h>

enum { HELD_MAX = 1 << 14, HELD_BYTES_MAX = 32 << 20, LARGEST_CACHED = 1032, STEP = 16, SMALLEST = 24 };
enum { AHEAD_MAX = 4 << 20 };

static void *held[HELD_MAX]; // owned
static size_t held_count, held_bytes;
static uintptr_t used_until; // the heap's top when blocks were followed last

// Where nobody had an address lately: behind the top, where that is near.
static uintptr_t fresh_from(uintptr_t top, uintptr_t stop) {
    uintptr_t fresh = stop - top <= AHEAD_MAX ? stop : top;
    return used_until > fresh && used_until - top <= AHEAD_MAX ? used_until : fresh;
}

// Asks for blocks of one size until one is fresh; 0: there is no more room to hold them.
static int drain(size_t bytes, uintptr_t fresh) {
    while (held_count < HELD_MAX && held_bytes < HELD_BYTES_MAX) {
        void *block = malloc(bytes);
        held[held_count] = block;
        held_count += block != NULL;
        held_bytes += bytes;
        if (!block || (uintptr_t)block >= fresh) {
            return 1;
        }
        memset(block, 0, bytes); // it is no dead block any more: its old words would be taken for owners
    }
    return 0;
}

static uintptr_t top_of_heap(void) { return (uintptr_t)sbrk(0) - mallinfo2().keepcost; }

void raw_memory_fresh_begin(void) {
    uintptr_t stop = (uintptr_t)sbrk(0), fresh = fresh_from(top_of_heap(), stop);
    static const size_t large[] = {1 << 16, 1 << 14, 1 << 12};
    void *probe = malloc(SMALLEST);
    int is_main_arena = probe && (uintptr_t)probe < stop && stop - (uintptr_t)probe < (uintptr_t)1 << 36;
    free(probe);
    if (!is_main_arena) {
        return; // another allocator's, or a thread's arena
    }
    for (size_t i = 0; i < sizeof large / sizeof *large && drain(large[i], fresh); i++) {
    }
    for (size_t bytes = LARGEST_CACHED; bytes >= SMALLEST && drain(bytes, fresh); bytes -= STEP) {
    }
}

void raw_memory_fresh_end(void) {
    used_until = held_count ? top_of_heap() : 0;
    while (held_count) {
        free(held[--held_count]);
    }
    held_bytes = 0;
}
