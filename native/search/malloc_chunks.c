// Is an address in a live block of glibc's malloc? Read from the headers of its chunks (malloc/malloc.c).
//
// Memory beyond 512 bytes, and everything C libraries allocate, comes from malloc. Its chunks lie side by
// side, each with its size in front, so a walk from the start of a heap meets every chunk. Three kinds of
// memory are walked: the main heap ([heap]); heaps of other threads, at multiples of 64 MiB; and large
// blocks with a mapping of their own, whose header stands at the start of a page.
// A chunk is free when the next one says so (PREV_INUSE clear), when its second word is the key that the
// threads' caches write there, or when its first word is the mangled link of a fast bin that holds it. The
// link alone says little: a block whose first word was never written has it still (search/glibc_arena.c).
// Where malloc is not glibc's (jemalloc, a sanitizer), blocks have no such header, and nothing is claimed:
// BLOCK_NONE.
// Other threads allocate without the GIL; a walk that meets nonsense ends, and claims nothing: BLOCK_LOST.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "memory/addresses.h"
#include "search/holders.h"

#define CHUNK_HEADER 16u
#define CHUNK_MIN 32u
#define PREV_INUSE 1u
#define IS_MMAPPED 2u
#define HEAP_ALIGNMENT ((uintptr_t)64 << 20) // HEAP_MAX_SIZE on 64 bits
#define FAST_MAX 0x80u
#define HEAP_NOT_READ ((uintptr_t)1) // no address of a chunk
#define PAGES_DOWN_MAX (1u << 18)    // looks for the header of a large block: up to 1 GiB below

typedef struct {
    uintptr_t previous_size, size; // the low bits of size are flags
    uintptr_t user[2];             // in a free chunk: links, or the cache's link and key
} chunk;

static uintptr_t chunk_size(const chunk *at) { return at->size & ~(uintptr_t)7; }

// Frees a block and reads what its second word became: twice the same means that it is the key.
static uintptr_t learn_key(size_t size) {
    volatile uintptr_t where = (uintptr_t)malloc(size), words[2] = {0, 0};
    if (where) {
        free((void *)where);
        memory_read(where, (void *)words, sizeof words); // freed memory: never through a pointer
    }
    return words[1];
}

// Whether the word in front of a new block is its size as glibc writes it. The library that `malloc` is in
// would not tell: in an executable that is no PIE its address is that of the executable's own PLT.
static int has_header(size_t size) {
    volatile uintptr_t where = (uintptr_t)malloc(size);
    uintptr_t header = 0;
    memory_read(where - sizeof header, &header, sizeof header);
    free((void *)where);
    uintptr_t told = header & ~(uintptr_t)7, least = (size + sizeof header + 15) & ~(uintptr_t)15;
    return told == least || told == least + 16; // a rest too small for a chunk stays with the block
}

void malloc_view_init(malloc_view *ret, const memory_maps *maps, const scan_runs *runs) {
    *ret = (malloc_view){.maps = maps, .runs = runs};
    ret->usable = has_header(88) && has_header(152);
    if (ret->usable) {
        uintptr_t first = learn_key(88), second = learn_key(152);
        ret->tcache_key = first == second ? first : 0;
        ret->main_arena = malloc_arena_find(maps);
    }
}

// A link of a fast bin is its own address, shifted, xor the next chunk ("safe linking", glibc 2.32).
static UNSANITIZED int is_in_fast_bin(const malloc_view *view, const chunk *at, uintptr_t size,
                                      const memory_map *map) {
    uintptr_t next = at->user[0] ^ ((uintptr_t)&at->user[0] >> 12);
    int is_link = next == 0 || (next % 16 == 0 && next >= map->start && next + CHUNK_MIN <= map->stop &&
                                chunk_size((const chunk *)next) == size);
    if (size > FAST_MAX || !is_link) {
        return 0;
    }
    int is_main = map->path_length == 6; // [heap]; else a thread's, whose first word is its arena
    uintptr_t heap = (uintptr_t)at & ~(HEAP_ALIGNMENT - 1);
    uintptr_t arena = is_main ? view->main_arena : *(const uintptr_t *)heap;
    return arena && malloc_arena_has(view->maps, arena, (uintptr_t)at, size); // none is known: live
}

static UNSANITIZED block_state chunk_state(const malloc_view *view, const chunk *at, const memory_map *map) {
    uintptr_t size = chunk_size(at);
    const chunk *next = (const chunk *)((uintptr_t)at + size);
    if ((uintptr_t)next + CHUNK_HEADER > map->stop || !(next->size & PREV_INUSE)) {
        return BLOCK_FREE; // the top of the heap, or known free
    }
    if (view->tcache_key && at->user[1] == view->tcache_key) {
        return BLOCK_FREE;
    }
    return is_in_fast_bin(view, at, size, map) ? BLOCK_FREE : BLOCK_LIVE;
}

// Walks chunks from `start` to the one with `word`. Where the last walk of this heap ended earlier, it goes
// on from there: hits come in order of addresses, so a heap is walked once.
static UNSANITIZED block_state walk(malloc_view *view, const memory_map *map, uintptr_t start, uintptr_t word,
                                    scan_range *ret) {
    uintptr_t at = start;
    if (view->last_start == start && view->last_chunk <= word) {
        at = view->last_chunk;
    }
    while (at + CHUNK_HEADER <= map->stop) {
        const chunk *here = (const chunk *)at;
        uintptr_t size = chunk_size(here);
        if (size < CHUNK_MIN || size % 16 || size > map->stop - at || here->size & IS_MMAPPED) {
            return BLOCK_LOST;
        }
        if (word < at + size + CHUNK_HEADER) {
            view->last_start = start;
            view->last_chunk = at;
            *ret = (scan_range){at + CHUNK_HEADER, at + size + 8};
            return word < at + CHUNK_HEADER ? BLOCK_LOST : chunk_state(view, here, map);
        }
        at += size;
    }
    return BLOCK_LOST;
}

// Where the chunks behind an arena begin, or 0. Five words follow its binmap; the last two are whole pages:
// how much memory it has, and had at most. Without fast bins (glibc 2.43) it is shorter.
static UNSANITIZED uintptr_t behind_arena(uintptr_t arena) {
    static const uintptr_t binmap_ends[] = {2160, 2072};
    for (size_t i = 0; i < 2; i++) {
        const uintptr_t *rest = (const uintptr_t *)(arena + binmap_ends[i]);
        if (rest[3] && rest[4] >= rest[3] && (rest[3] | rest[4]) % 4096 == 0) {
            return ((uintptr_t)(rest + 5) + 15) & ~(uintptr_t)15;
        }
    }
    return 0;
}

// A thread's heap starts with heap_info {arena, previous heap, size, writable size ...}; the first heap of
// an arena goes on with the arena itself, then with its first chunk. Often that is the thread's cache, but a
// thread that has one (any whose allocation failed elsewhere: arena_get_retry) starts with what it asked for,
// and a free chunk does not say NON_MAIN_ARENA.
static UNSANITIZED uintptr_t first_chunk_of_thread_heap(uintptr_t heap, uintptr_t word) {
    const uintptr_t *head = (const uintptr_t *)heap;
    uintptr_t arena = head[0], size = head[2];
    if (size > HEAP_ALIGNMENT || size % 4096 || word >= heap + size || head[3] > HEAP_ALIGNMENT ||
        head[3] < size) {
        return 0;
    }
    if (arena / HEAP_ALIGNMENT != heap / HEAP_ALIGNMENT) {
        return head[4] == 4096 ? heap + 48 : heap + 32; // glibc 2.35 added the page size
    }
    uintptr_t at = behind_arena(arena);
    const chunk *first = (const chunk *)at;
    int is_one = at && (first->size & (PREV_INUSE | IS_MMAPPED)) == PREV_INUSE &&
                 chunk_size(first) % 16 == 0 && chunk_size(first) >= CHUNK_MIN && chunk_size(first) < size;
    return is_one ? at : HEAP_NOT_READ;
}

UNSANITIZED uintptr_t malloc_heap_start(const malloc_view *view, const memory_map *map, uintptr_t at) {
    if (map->path_length == 6) {
        return at == map->start ? at : 0;
    }
    if (!view->usable || at % HEAP_ALIGNMENT) {
        return 0;
    }
    uintptr_t first = first_chunk_of_thread_heap(at, at);
    return first == HEAP_NOT_READ ? 0 : first;
}

// Chunks of fast bins count as live here: malloc_fast_bytes tells how many bytes they are.
UNSANITIZED uintptr_t malloc_each(const malloc_view *view, uintptr_t start, uintptr_t stop, malloc_look look,
                                  void *argument) {
    uintptr_t at = start;
    while (at + CHUNK_HEADER <= stop) {
        const chunk *here = (const chunk *)at;
        uintptr_t size = chunk_size(here);
        if (size < CHUNK_MIN || size % 16 || size > stop - at || here->size & IS_MMAPPED) {
            break;
        }
        const chunk *next = (const chunk *)(at + size);
        int is_free = at + size + CHUNK_HEADER > stop || !(next->size & PREV_INUSE) ||
                      (view->tcache_key && here->user[1] == view->tcache_key);
        look(at, at + size, is_free ? BLOCK_FREE : BLOCK_LIVE, argument);
        at += size;
    }
    return at;
}

UNSANITIZED uintptr_t malloc_thread_heap(uintptr_t at, uintptr_t *ret_arena) {
    const uintptr_t *head = (const uintptr_t *)at;
    *ret_arena = head[0];
    return at + head[2];
}

// From glibc 2.43 on the size leaves out the header: it is 16 short of whole pages.
UNSANITIZED uintptr_t malloc_mapped_size(uintptr_t page, uintptr_t stop) {
    const chunk *here = (const chunk *)page;
    uintptr_t size = chunk_size(here), whole = size % 4096 == 0 ? size : size + CHUNK_HEADER;
    int is_one = (here->size & 7) == IS_MMAPPED && here->previous_size == 0 && whole % 4096 == 0 && size;
    return is_one && whole <= stop - page ? whole : 0;
}

// The run of pages that exist which holds `at`, or the next one below.
static const scan_range *run_at_or_below(const scan_runs *runs, uintptr_t at) {
    size_t above = addresses_below(runs->rows, runs->count, sizeof *runs->rows, at + 1);
    return above ? &runs->rows[above - 1] : NULL;
}

// Looks for the header at the start of each page below, over pages that exist: none is touched anew.
static UNSANITIZED block_state mapped_block(const scan_runs *runs, const memory_map *map, uintptr_t word,
                                            scan_range *ret) {
    uintptr_t page = word & ~(uintptr_t)4095;
    for (size_t i = 0; i < PAGES_DOWN_MAX && page >= map->start; i++, page -= 4096) {
        const scan_range *run = run_at_or_below(runs, page);
        if (!run || run->stop <= map->start) {
            break;
        }
        if (page + CHUNK_HEADER > run->stop) {
            page = (run->stop - 1) & ~(uintptr_t)4095;
        }
        uintptr_t whole = malloc_mapped_size(page, map->stop);
        if (whole && word >= page + CHUNK_HEADER && word < page + whole) {
            *ret = (scan_range){page + CHUNK_HEADER, page + whole};
            return BLOCK_LIVE;
        }
    }
    return BLOCK_NONE;
}

static int goes_on(const memory_map *below, const memory_map *above) {
    return below->stop == above->start && memcmp(below->permissions, above->permissions, 2) == 0 &&
           below->path_length == above->path_length &&
           memcmp(below->path, above->path, above->path_length) == 0;
}

// One heap may be several mappings: the kernel cuts where a part was advised (NumPy asks for huge pages).
static memory_map joined(const memory_maps *maps, const memory_map *map) {
    memory_map whole = *map;
    const memory_map *first = maps->rows, *last = maps->rows + maps->count - 1;
    for (const memory_map *row = map; row > first && goes_on(row - 1, row); row--) {
        whole.start = row[-1].start;
    }
    for (const memory_map *row = map; row < last && goes_on(row, row + 1); row++) {
        whole.stop = row[1].stop;
    }
    return whole;
}

block_state malloc_block(malloc_view *view, uintptr_t word, scan_range *ret) {
    const memory_map *row = memory_maps_find(view->maps, word);
    if (!view->usable || !row) {
        return BLOCK_NONE;
    }
    const memory_map whole = joined(view->maps, row), *map = &whole;
    if (map->path_length == 6 && memcmp(map->path, "[heap]", 6) == 0) {
        return walk(view, map, map->start, word, ret);
    }
    if (map->path_length && map->path[0] == '/') {
        return BLOCK_NONE;
    }
    uintptr_t heap = word & ~(HEAP_ALIGNMENT - 1);
    if (heap >= map->start && heap < map->stop) {
        uintptr_t first = first_chunk_of_thread_heap(heap, word);
        if (first == HEAP_NOT_READ) {
            return BLOCK_LOST;
        }
        if (first) {
            return walk(view, map, first, word, ret);
        }
    }
    return mapped_block(view->runs, map, word, ret);
}
