// Fresh addresses for followed blocks: the free memory of malloc is held while blocks are followed.
//
// Old pointers to the address of a reused block may remain: in words that a later owner never wrote, and in
// slack at the ends of blocks. A search takes them for owners, and a leaked block looks kept. (Valgrind keeps
// freed blocks apart for the same reason.) So while blocks are followed, the free blocks of glibc's main
// arena are allocated, cleared and held, until malloc returns memory from the top of its heap. The top was
// used before as far as freed blocks merged into it: it is held up to its end, and up to the last top, within
// AHEAD_MAX. Each use moves the top, so a process that looks often has much free memory: pages inside large
// blocks are given back to the kernel, which clears them and costs no resident memory.
//
// Limits. HELD_MAX blocks, HELD_BYTES_MAX bytes; main arena only; blocks freed during a run are reused. Who
// frees: raw_memory_fresh_end().
// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "leaks/raw_memory/followed.h"
#include "module/platform.h"

#include <sys/mman.h>
#include <unistd.h>

enum { HELD_MAX = 1 << 18, HELD_BYTES_MAX = 1 << 30, LARGEST_CACHED = 1032, STEP = 16, SMALLEST = 24 };
enum { PAGE_BYTES = 4096, LARGE = 4 * PAGE_BYTES };
enum { AHEAD_MAX = 4 << 20 };

static void *held[HELD_MAX]; // owned
static size_t held_count, held_bytes;
static int is_wanted;        // blocks are followed, and no watched call has begun
static uintptr_t used_until; // top of the heap when blocks were followed last

// The first address that was not used lately: behind the top, if that is near.
static uintptr_t fresh_from(uintptr_t top, uintptr_t stop) {
    uintptr_t start = stop - top <= AHEAD_MAX ? stop : top;
    return used_until > start && used_until - top <= AHEAD_MAX ? used_until : start;
}

// A held block counts as live: its old words would look like owners.
static void clear(char *block, size_t bytes) {
    char *page = (char *)(((uintptr_t)block + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1));
    char *stop = (char *)((uintptr_t)(block + bytes) & ~(uintptr_t)(PAGE_BYTES - 1));
    if (bytes < LARGE || madvise(page, (size_t)(stop - page), MADV_DONTNEED) < 0) { // locked memory stays
        memset(block, 0, bytes);
        return;
    }
    memset(block, 0, (size_t)(page - block));
    memset(stop, 0, (size_t)(block + bytes - stop));
}

// Allocates blocks of one size until one is fresh, which is freed. Returns 0 when no more can be held.
static int drain(size_t bytes, uintptr_t fresh) {
    while (held_count < HELD_MAX && held_bytes < HELD_BYTES_MAX) {
        void *block = malloc(bytes);
        __asm__ volatile(""
                         : "+r"(block)); // else GCC makes calloc of it, which does not ask the thread's cache
        if (!block || (uintptr_t)block >= fresh) {
            free(block);
            return 1;
        }
        held[held_count++] = block;
        held_bytes += bytes;
        clear(block, bytes);
    }
    return 0;
}

static uintptr_t top_of_heap(void) { return (uintptr_t)sbrk(0) - platform_heap_top_bytes(); }

void raw_memory_fresh_want(void) { is_wanted = 1; }

void raw_memory_fresh_begin(void) {
    static const size_t large[] = {1 << 16, 1 << 14, 1 << 12, 1 << 11};
    if (!is_wanted) {
        return;
    }
    is_wanted = 0;
    uintptr_t stop = (uintptr_t)sbrk(0), fresh = fresh_from(top_of_heap(), stop);
    void *probe = malloc(SMALLEST);
    int is_main_arena = probe && (uintptr_t)probe < stop && stop - (uintptr_t)probe < (uintptr_t)1 << 36;
    free(probe);
    if (!is_main_arena) {
        return; // another allocator, or the arena of a thread
    }
    for (size_t i = 0; i < sizeof large / sizeof *large && drain(large[i], fresh); i++) {
    }
    for (size_t bytes = LARGEST_CACHED; bytes >= SMALLEST && drain(bytes, fresh); bytes -= STEP) {
    }
}

void raw_memory_fresh_end(void) {
    is_wanted = 0;
    used_until = held_count ? top_of_heap() : 0;
    while (held_count) {
        free(held[--held_count]);
    }
    held_bytes = 0;
}
