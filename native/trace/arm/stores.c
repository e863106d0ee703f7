// Writes the pointers of trace/arm/calls.c, into memory that may be read-only.
// SPDX-License-Identifier: MIT
#include "memory/addresses.h"
#include "memory/memory.h"
#include "trace/arm/calls.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

// The mappings as of the last read of /proc/self/maps in this batch, by address, neighbours of one protection
// as one: a read takes a millisecond where many libraries are loaded. In numbers of pages: addresses here
// would look like a library's pointers to all memory (heap/account/gaps.c).
enum { PAGE_SHIFT = 12 };
typedef struct {
    uintptr_t start, stop;
    int protection; // as mprotect takes it
} page_range;

#define RANGES_KEPT 8192
#define RANGES_FRESH_NS 20000000
static page_range ranges[RANGES_KEPT];
static size_t range_count;
static page_range last_found; // the one of them that the last place was in
static uint64_t read_ns;      // when they were read
static uint64_t libraries;    // loaded and unloaded in the life of the process by then

static int protection_of(const memory_map *map) {
    const char *letters = map->permissions;
    return (letters[0] == 'r' ? PROT_READ : 0) | (letters[1] == 'w' ? PROT_WRITE : 0) |
           (letters[2] == 'x' ? PROT_EXEC : 0);
}

static void ranges_keep(const memory_maps *maps) {
    range_count = 0;
    for (size_t i = 0; i < maps->count; i++) {
        page_range one = {maps->rows[i].start >> PAGE_SHIFT, maps->rows[i].stop >> PAGE_SHIFT,
                          protection_of(&maps->rows[i])};
        page_range *last = range_count ? &ranges[range_count - 1] : NULL;
        if (last && last->stop == one.start && last->protection == one.protection) {
            last->stop = one.stop;
        } else if (range_count < RANGES_KEPT) {
            ranges[range_count++] = one;
        }
    }
}

static int range_find(uintptr_t page) {
    ptrdiff_t at = addresses_find(ranges, range_count, sizeof *ranges, page);
    last_found = at >= 0 ? ranges[at] : last_found;
    return at >= 0;
}

static int library_count(struct dl_phdr_info *object, size_t size, void *argument) {
    *(uint64_t *)argument = object->dlpi_adds + object->dlpi_subs;
    return 1;
}

static uint64_t libraries_counted(void) {
    uint64_t found = 0;
    dl_iterate_phdr(library_count, &found);
    return found;
}

// The protection of the page at `address`; -1 where nothing is mapped there.
static int protection(uintptr_t address) {
    uintptr_t page = address >> PAGE_SHIFT;
    if ((page >= last_found.start && page < last_found.stop) || range_find(page)) {
        return last_found.protection;
    }
    _scratch_ scratch memory = {NULL, 0, 0};
    memory_maps maps;
    if (scratch_init(&memory, SCRATCH_BYTES) < 0 || memory_maps_init(&maps, &memory) < 0) {
        return -1;
    }
    ranges_keep(&maps);
    libraries = libraries_counted();
    read_ns = clock_now_ns();
    const memory_map *map = memory_maps_find(&maps, address);
    return map ? protection_of(map) : -1;
}

void calls_forget_pages(void) {
    range_count = 0;
    last_found = (page_range){0, 0, 0};
}

void calls_forget_old_pages(void) {
    if (clock_now_ns() - read_ns > RANGES_FRESH_NS || libraries != libraries_counted()) {
        calls_forget_pages();
    }
}

int calls_is_writable(const uintptr_t *place) {
    int kept = protection((uintptr_t)place);
    return kept >= 0 && kept & PROT_WRITE;
}

static int store_locked(uintptr_t *place, uintptr_t value, int kept) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)place & ~(page_bytes - 1));
    if (mprotect(page, page_bytes, kept | PROT_WRITE) < 0) {
        return -1;
    }
    __atomic_store_n(place, value, __ATOMIC_RELEASE);
    mprotect(page, page_bytes, kept);
    return 0;
}

int calls_store(uintptr_t *place, uintptr_t value) {
    int kept = protection((uintptr_t)place);
    if (kept >= 0 && !(kept & PROT_WRITE)) {
        return store_locked(place, value, kept);
    }
    if (kept >= 0) {
        __atomic_store_n(place, value, __ATOMIC_RELEASE);
    }
    return kept < 0 ? -1 : 0;
}
