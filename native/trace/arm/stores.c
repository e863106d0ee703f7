// Writes the pointers of trace/arm/calls.c, into memory that may be read-only.
// SPDX-License-Identifier: MIT
#include "memory/addresses.h"
#include "memory/memory.h"
#include "trace/arm/calls.h"

#include <sys/mman.h>
#include <unistd.h>

// The writable mappings as of the last read of /proc/self/maps in this batch, by address: a read takes 0.1 ms
// and more, and each library has mappings of its own.
#define RANGES_KEPT 4096
static scan_range writable[RANGES_KEPT];
static size_t writable_count;

static void writable_keep(const memory_maps *maps) {
    writable_count = 0;
    for (size_t i = 0; i < maps->count && writable_count < RANGES_KEPT; i++) {
        const memory_map *map = &maps->rows[i];
        if (map->permissions[1] == 'w') {
            writable[writable_count++] = (scan_range){map->start, map->stop};
        }
    }
}

// The protection of the page at `address`, as mprotect takes it; -1 where nothing is mapped there.
static int protection(uintptr_t address) {
    if (addresses_find(writable, writable_count, sizeof *writable, address) >= 0) {
        return PROT_READ | PROT_WRITE;
    }
    _scratch_ scratch memory = {NULL, 0, 0};
    memory_maps maps;
    if (scratch_init(&memory, SCRATCH_BYTES) < 0 || memory_maps_init(&maps, &memory) < 0) {
        return -1;
    }
    writable_keep(&maps);
    const memory_map *map = memory_maps_find(&maps, address);
    if (!map) {
        return -1;
    }
    const char *letters = map->permissions;
    return (letters[0] == 'r' ? PROT_READ : 0) | (letters[1] == 'w' ? PROT_WRITE : 0) |
           (letters[2] == 'x' ? PROT_EXEC : 0);
}

void calls_forget_pages(void) { writable_count = 0; }

int calls_is_writable(const uintptr_t *place) {
    int kept = protection((uintptr_t)place);
    return kept >= 0 && kept & PROT_WRITE;
}

int calls_store(uintptr_t *place, uintptr_t value) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)place & ~(page_bytes - 1));
    int kept = protection((uintptr_t)place);
    int locked = kept >= 0 && !(kept & PROT_WRITE);
    if (kept < 0 || (locked && mprotect(page, page_bytes, kept | PROT_WRITE) < 0)) {
        return -1;
    }
    __atomic_store_n(place, value, __ATOMIC_RELEASE);
    if (locked) {
        mprotect(page, page_bytes, kept);
    }
    return 0;
}
