// The fast bins of glibc's arenas: which small chunks are free in truth.
//
// A chunk that was freed into a fast bin or a thread's cache begins with a link, and so does a live block
// whose first word nobody wrote since. Only the list itself tells which it is, and lists begin in the arena
// (struct malloc_state, glibc 2.32 to 2.42: three ints, fastbinsY[10], top, last_remainder, bins[254]; from
// 2.43 on two ints, top, last_remainder, bins[254]: there are no fast bins any more). A thread's arena is
// named by its heap. The main one is a static of libc without a symbol: it is where most of 127 pairs of
// words in a row point at themselves, as empty bins do, behind a pointer to the end of [heap]; none is 0, or
// the words before the arena would do, together with most of its bins.
//
// Limits. Lists of LINKS_MAX chunks: of a longer one what it begins with. Other threads take chunks from a
// list while it is read: then one in it may be missed, and counts as live.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "module/platform.h"
#include "search/holders.h"

#include <link.h>

enum { FAST_BINS = 16, BIN_COUNT = 127, FAST_CHUNKS_MAX = 1 << 22 };
enum { EMPTY_LEAST = 16, LINKS_MAX = 1 << 14, HEAP_NAME = 6 };

// Offsets in an arena. Arenas lie at multiples of 16, and so none can be read by the other layout.
typedef struct {
    uintptr_t fast_bins, top, bins;
} arena_layout;
static const arena_layout LAYOUTS[] = {{10, 96, 112}, {0, 8, 24}};
static const arena_layout *layout = LAYOUTS; // of this process's glibc

typedef struct {
    const memory_maps *maps;
    uintptr_t arena;
} arena_search;

static int is_in_heap(const memory_maps *maps, uintptr_t address) {
    const memory_map *map = address % 16 ? NULL : memory_maps_find(maps, address);
    return map && map->path_length == HEAP_NAME && memcmp(map->path, "[heap]", HEAP_NAME) == 0;
}

static UNSANITIZED int is_arena(const memory_maps *maps, uintptr_t at, const arena_layout *as) {
    uintptr_t top = *(const uintptr_t *)(at + as->top);
    int empty = 0;
    for (uintptr_t i = 0; top && i < BIN_COUNT; i++) {
        const uintptr_t *links = (const uintptr_t *)(at + as->bins + 16 * i);
        uintptr_t bin = (uintptr_t)links - 16;
        if (!links[0] || !links[1] || (links[0] == bin) != (links[1] == bin)) {
            return 0;
        }
        empty += links[0] == bin;
    }
    return empty >= EMPTY_LEAST && is_in_heap(maps, top);
}

static int object_look(struct dl_phdr_info *object, size_t size, void *argument) {
    arena_search *wanted = argument;
    int is_libc = 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        is_libc |= part->p_type == PT_LOAD && PLATFORM_IN_GLIBC - start < part->p_memsz;
    }
    for (int i = 0; is_libc && i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr, stop = start + part->p_memsz;
        int is_data = part->p_type == PT_LOAD && part->p_flags & PF_W;
        for (uintptr_t at = (start + 15) & ~(uintptr_t)15; is_data && at + MALLOC_ARENA_BYTES <= stop;
             at += 16) {
            for (size_t k = 0; k < 2; k++) {
                if (is_arena(wanted->maps, at, &LAYOUTS[k])) {
                    layout = &LAYOUTS[k];
                    wanted->arena = at;
                    return 1;
                }
            }
        }
    }
    return is_libc;
}

uintptr_t malloc_arena_find(const memory_maps *maps) {
    static uintptr_t known; // libc is not moved
    arena_search wanted = {maps, known};
    if (!known) {
        dl_iterate_phdr(object_look, &wanted);
        known = wanted.arena;
    }
    return known;
}

UNSANITIZED int malloc_arena_has(const memory_maps *maps, uintptr_t arena, uintptr_t chunk, uintptr_t size) {
    uintptr_t at = layout->fast_bins ? ((const uintptr_t *)(arena + FAST_BINS))[size / 16 - 2] : 0;
    for (int i = 0; at && at % 16 == 0 && i < LINKS_MAX; i++) {
        if (at == chunk) {
            return 1;
        }
        const memory_map *map = memory_maps_find(maps, at);
        if (!map || map->permissions[1] != 'w' || at + 32 > map->stop) {
            return 0;
        }
        const uintptr_t *link = (const uintptr_t *)(at + 16);
        at = *link ^ (uintptr_t)link >> 12;
    }
    return 0;
}

UNSANITIZED uint64_t malloc_fast_bytes(const memory_maps *maps, uintptr_t arena) {
    uint64_t bytes = 0;
    for (uintptr_t bin = 0; bin < layout->fast_bins; bin++) {
        uintptr_t at = ((const uintptr_t *)(arena + FAST_BINS))[bin];
        for (int i = 0; at && at % 16 == 0 && i < FAST_CHUNKS_MAX; i++) {
            const memory_map *map = memory_maps_find(maps, at);
            if (!map || map->permissions[1] != 'w' || at + 32 > map->stop) {
                break;
            }
            bytes += 16 * (bin + 2);
            const uintptr_t *link = (const uintptr_t *)(at + 16);
            at = *link ^ (uintptr_t)link >> 12;
        }
    }
    return bytes;
}

UNSANITIZED uintptr_t malloc_arena_top(uintptr_t arena) { return *(const uintptr_t *)(arena + layout->top); }
