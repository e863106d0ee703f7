// Sampled growth of Arrow's default pool, whose mimalloc or jemalloc is linked into libarrow.
//
// Such an allocator hands out memory that it mapped long before, through no slot. But all of Arrow asks the
// pool for it, by virtual functions of arrow::MemoryPool: three words of the pool's virtual table, which are
// patched like import slots. Which ones is not assumed: ProxyMemoryPool is a public class with the same
// functions, and the places of its own, known by name, in its own table tell. Where a name is missing nothing
// is patched.
//
// The Itanium ABI: a function that returns a Status gets the address of the result before `this`, and returns
// it; a Status that holds NULL is success.
// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "leaks/sampled/counted.h"
#include "memory/memory.h"
#include "trace/arm/got.h"

#include <dlfcn.h>
#include <sys/mman.h>

enum { ALLOCATE, REALLOCATE, FREE, PATCHED };
enum { TABLE_WORDS = 24, TABLE_HEAD = 2 }; // before the functions: offset to top, type

typedef void *(*allocate_function)(void **, void *, int64_t, int64_t, uint8_t **);
typedef void *(*reallocate_function)(void **, void *, int64_t, int64_t, int64_t, uint8_t **);
typedef void (*free_function)(void *, uint8_t *, int64_t, int64_t);

static const char *const names[PATCHED] = {"_ZN5arrow15ProxyMemoryPool8AllocateEllPPh",
                                           "_ZN5arrow15ProxyMemoryPool10ReallocateElllPPh",
                                           "_ZN5arrow15ProxyMemoryPool4FreeEPhll"};
static void *held[PATCHED];   // the pool's own functions, kept for threads that still run our hooks
static void **words[PATCHED]; // in the pool's table; NULL: not patched

// Blocks that the pool itself asks for meanwhile belong to the block that it hands out.
static int64_t count_stop(void) {
    int64_t left = ring_here.sample_left;
    ring_here.sample_left = INT64_MAX;
    return left;
}

static void *hook_allocate(void **status, void *pool, int64_t bytes, int64_t alignment, uint8_t **ret) {
    int64_t left = count_stop();
    void *result = ((allocate_function)held[ALLOCATE])(status, pool, bytes, alignment, ret);
    ring_here.sample_left = left;
    growth_allocated(GROWTH_MemoryPool, *status ? NULL : *ret, (size_t)bytes, __builtin_frame_address(0));
    return result;
}

static void *hook_reallocate(void **status, void *pool, int64_t old_bytes, int64_t bytes, int64_t alignment,
                             uint8_t **ret) {
    growth_row row;
    int was_there = growth_taken(*ret, &row);
    int64_t left = count_stop();
    void *result = ((reallocate_function)held[REALLOCATE])(status, pool, old_bytes, bytes, alignment, ret);
    ring_here.sample_left = left;
    if (*status && was_there) {
        growth_put(&row);
    }
    growth_allocated(GROWTH_MemoryPool, *status ? NULL : *ret, (size_t)bytes, __builtin_frame_address(0));
    return result;
}

static void hook_free(void *pool, uint8_t *block, int64_t bytes, int64_t alignment) {
    growth_freed(block);
    ((free_function)held[FREE])(pool, block, bytes, alignment);
}

static void *const hooks[PATCHED] = {(void *)hook_allocate, (void *)hook_reallocate, (void *)hook_free};

static int find_arrow(struct dl_phdr_info *object, size_t size, void *ret) {
    const char *name = strrchr(loaded_path(object), '/');
    if (name && strncmp(name, "/libarrow.so", 12) == 0) {
        *(void **)ret = dlopen(loaded_path(object), RTLD_LAZY | RTLD_NOLOAD);
    }
    return *(void **)ret != NULL;
}

// The place of a function in the table of ProxyMemoryPool; -1: not there.
static int place_in(void *const *table, const void *function) {
    for (int place = 0; function && place < TABLE_WORDS; place++) {
        if (table[TABLE_HEAD + place] == function) {
            return place;
        }
    }
    return -1;
}

// Makes the page of a word writable; returns what it permitted before, or -1.
static int permissions_at(const void *word) {
    _scratch_ scratch memory = {NULL, 0, 0};
    memory_maps maps;
    if (scratch_init(&memory, SCRATCH_BYTES) < 0 || memory_maps_init(&maps, &memory) < 0) {
        return -1;
    }
    const memory_map *map = memory_maps_find(&maps, (uintptr_t)word);
    return map ? PROT_READ | (map->permissions[1] == 'w' ? PROT_WRITE : 0) : -1;
}

static int store(void **word, void *value) {
    uintptr_t page = (uintptr_t)word & ~(uintptr_t)4095;
    int before = permissions_at(word);
    if (before < 0 || mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) < 0) {
        return -1;
    }
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    mprotect((void *)page, 4096, before);
    return 0;
}

// The words of the default pool's table that hold the three functions; 0 where one is not known.
static int find_words(void *arrow, void **ret[PATCHED]) {
    void *const *table = dlsym(arrow, "_ZTVN5arrow15ProxyMemoryPoolE");
    void ***(*pool)(void) = (void ***(*)(void))dlsym(arrow, "_ZN5arrow19default_memory_poolEv");
    void **own = table && pool ? *pool() : NULL;
    for (int i = 0; own && i < PATCHED; i++) {
        int place = place_in(table, dlsym(arrow, names[i]));
        if (place < 0) {
            return 0;
        }
        ret[i] = &own[place];
    }
    return own != NULL;
}

int growth_pools_arm(void) {
    void *arrow = NULL, **found[PATCHED];
    dl_iterate_phdr(find_arrow, &arrow);
    if (!arrow) {
        return 0;
    }
    int is_known = find_words(arrow, found);
    dlclose(arrow); // pyarrow keeps it
    for (int i = 0; is_known && i < PATCHED; i++) {
        if (*found[i] != hooks[i]) {
            held[i] = *found[i];
            words[i] = store(found[i], hooks[i]) == 0 ? found[i] : NULL;
        }
    }
    return is_known;
}

void growth_pools_disarm(void) {
    for (int i = 0; i < PATCHED; i++) {
        if (words[i] && *words[i] == hooks[i] && store(words[i], held[i]) == 0) {
            words[i] = NULL;
        }
    }
}
