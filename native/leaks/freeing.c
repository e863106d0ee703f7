// Hooks of free and realloc in the import slots of loaded libraries, while the ledger is open.
//
// Overview. trace/arm/got.c patches the slots of every loaded object but Python, the program and libc. A
// block that a view shows (leaks/views.c) is not freed; the caller does not notice. If it is reallocated to
// grow, its contents are copied as if malloc had moved it, and the old block is kept. C++'s operator delete
// ends in free in another library: its hooks only record the caller.
//
// Safety. Only blocks of the process's own free are kept: malloc_usable_size is not valid for other
// allocators. In a program that is no PIE `free` may be the address of its PLT entry: then libc's own
// functions are meant. Hooks run in any thread, with and without the GIL.
//
// Limits and why. munmap, allocators linked into a library (mimalloc, jemalloc), caches of free blocks
// (NumPy) and calls inside libc and Python are not seen; leaks/frees.c hooks Python's domains.
// SPDX-License-Identifier: MIT
#include "leaks/leaks.h"
#include "leaks/raw_memory/followed.h"
#include "trace/capi/trampolines.h"
#include "trace/record/ring.h"

#include <dlfcn.h>
#include <malloc.h>

#define FREEING(FUNCTION) \
    FUNCTION(free, freed) \
    FUNCTION(realloc, moved) \
    FUNCTION(_ZdlPv, deleted) \
    FUNCTION(_ZdlPvm, deleted) \
    FUNCTION(_ZdaPv, deleted) \
    FUNCTION(_ZdaPvm, deleted) \
    FUNCTION(_ZdlPvSt11align_val_t, deleted) \
    FUNCTION(_ZdlPvmSt11align_val_t, deleted)

static struct {
    const void *free, *realloc;
    size_t (*usable)(void *);
} in_libc;

static __attribute__((constructor)) void find_libc(void) {
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (libc) {
        in_libc.free = dlsym(libc, "free");
        in_libc.realloc = dlsym(libc, "realloc");
        in_libc.usable = (size_t (*)(void *))dlsym(libc, "malloc_usable_size");
        dlclose(libc); // it stays: we are linked to it
    }
}

// Bytes of a block that `original` is to free; 0 where that is another allocator's function.
static size_t usable_bytes(void *block, void *original, const void *ours, const void *libcs) {
    original = trampolines_behind(original); // growth may be sampled at the same time
    return !block              ? 0
           : original == ours  ? malloc_usable_size(block)
           : original == libcs ? in_libc.usable(block)
                               : 0;
}

static void give_back(void *context, void *block) { free(block); }

static ledger_freeing freeing_at(uint32_t slot, uintptr_t from, const char *function) {
    int is_inner = ring_here.deleting != 0;
    return (ledger_freeing){.give_back = give_back,
                            .from = is_inner ? ring_here.deleting : from,
                            .slot = is_inner ? ring_here.deleting_slot : slot,
                            .function = is_inner ? "operator delete" : function};
}

static void hook_freed(void *block) {
    uint32_t slot = ring_here.slot;
    void (*original)(void *) = got_words_of[slot].original;
    raw_memory_freed(block);
    size_t bytes = ledger_views_count ? usable_bytes(block, original, free, in_libc.free) : 0;
    if (bytes) {
        ledger_freeing freeing = freeing_at(slot, (uintptr_t)__builtin_return_address(0), "free");
        if (ledger_views_freed((uintptr_t)block, bytes, &freeing)) {
            return;
        }
    }
    original(block);
}

// A block that shrinks stays in place.
static void *moved(void *block, size_t bytes, uint32_t slot, uintptr_t from) {
    void *(*original)(void *, size_t) = got_words_of[slot].original;
    size_t old_bytes = ledger_views_count ? usable_bytes(block, original, realloc, in_libc.realloc) : 0;
    if (!old_bytes || (bytes && bytes <= old_bytes) || !ledger_views_shows((uintptr_t)block, old_bytes)) {
        return original(block, bytes);
    }
    void *grown = bytes ? malloc(bytes) : NULL;
    if (bytes && !grown) {
        return NULL;
    }
    if (grown) {
        memcpy(grown, block, old_bytes);
    }
    ledger_freeing freeing = freeing_at(slot, from, "realloc");
    if (!ledger_views_freed((uintptr_t)block, old_bytes, &freeing)) {
        free(block);
    }
    return grown;
}

// Removes the row before the move: then another thread may get the address. With NULL it is an allocation.
static void *hook_moved(void *block, size_t bytes) {
    uint32_t slot = ring_here.slot;
    char *frame = (char *)__builtin_frame_address(0) + sizeof(void *);
    raw_memory_block row;
    int was_known = raw_memory_take(block, &row);
    uintptr_t from = (uintptr_t)__builtin_return_address(0);
    void *now = moved(block, bytes, slot, from);
    if (was_known && (now || bytes)) {
        raw_memory_put(&row, now ? now : block, now ? bytes : row.bytes);
    } else if (!block) {
        raw_memory_domain_allocated(RAW_MEMORY_realloc, now, bytes, frame, raw_memory_follows(from));
    }
    return now;
}

static void hook_deleted(void *block, uintptr_t second, uintptr_t third) {
    uint32_t slot = ring_here.slot;
    ring_here.deleting = (uintptr_t)__builtin_return_address(0);
    ring_here.deleting_slot = slot;
    ((void (*)(void *, uintptr_t, uintptr_t))got_words_of[slot].original)(block, second, third);
    ring_here.deleting = 0;
}

#define FREEING_ID(name, hook) FREEING_##name,
enum { FREEING(FREEING_ID) };
#define FREEING_ROW(name, hook) {#name, NULL, GOT_FREEING_FIRST + FREEING_##name},
GOT_SOURCE(freeing_source, GOT_FREEING_FIRST, FREEING, FREEING);
