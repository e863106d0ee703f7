// Hooks of PYMEM_DOMAIN_RAW: frees, and followed small blocks, which bypass the pools of pymalloc.
//
// The interpreter calls free() through no import slot that we patch, hence the hooks of the raw domain.
//
// pymalloc returns the address that was freed last, inside a pool to whose blocks many words point. An old
// word, or a pointer to the next block, which is where this one ends, would look like an owner. So while
// blocks of chosen modules are followed, they come from malloc, as those beyond 512 bytes do. pymalloc is
// called with a size that it passes on (POOLED_MAX + 1), and the hook of the raw domain substitutes the
// requested size. So pymalloc counts the block, reallocates and frees it like any block outside its pools,
// and the block has the right size. This is done only if pymalloc stands alone: a tracer (tracemalloc) would
// report the wrong size, and a debug allocator pads its blocks.
//
// Other threads may call the raw domain without the GIL while its functions are replaced word by word. So our
// functions take the context of the replaced ones, and every mixture of old and new words works.
// SPDX-License-Identifier: MIT
#include "leaks/raw_memory/followed.h"

#include <pthread.h>

enum { POOLED_MAX = 512, TRIAL = 24 };

static PyMemAllocatorEx before_raw;
static int is_installed;            // ours are installed, perhaps below a later hook
static size_t requested_bytes;      // replaces POOLED_MAX + 1; 0: nothing to replace
static pthread_t requesting_thread; // the thread that requests it: others call the raw domain without the GIL
static int was_substituted;         // the hook replaced the size

static size_t size_of(size_t bytes) {
    if (bytes != POOLED_MAX + 1 || !requested_bytes || !pthread_equal(requesting_thread, pthread_self())) {
        return bytes;
    }
    size_t wanted = requested_bytes;
    was_substituted = 1;
    requested_bytes = 0;
    return wanted;
}

static void *raw_malloc(void *context, size_t bytes) { return before_raw.malloc(context, size_of(bytes)); }

static void *raw_calloc(void *context, size_t count, size_t each) {
    return count == 1 ? before_raw.calloc(context, count, size_of(each))
                      : before_raw.calloc(context, count, each);
}

static void raw_free(void *context, void *block) {
    raw_memory_freed(block);
    before_raw.free(context, block);
}

static void *raw_realloc(void *context, void *block, size_t bytes) {
    return raw_memory_moved(&before_raw, context, block, bytes);
}

void raw_memory_domain_begin(void) {
    if (!is_installed) {
        PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &before_raw);
        PyMemAllocatorEx ours = before_raw;
        ours.malloc = raw_malloc;
        ours.calloc = raw_calloc;
        ours.free = raw_free;
        ours.realloc = raw_realloc;
        PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &ours);
        is_installed = 1;
    }
}

void raw_memory_domain_end(void) {
    PyMemAllocatorEx now;
    PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &now);
    if (is_installed && now.free == raw_free) { // else a later hook calls ours: they stay and pass calls on
        PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &before_raw);
        is_installed = 0;
    }
}

static void *allocate(const PyMemAllocatorEx *domain, size_t bytes, int is_zeroed) {
    return is_zeroed ? domain->calloc(domain->ctx, 1, bytes) : domain->malloc(domain->ctx, bytes);
}

static void *allocate_unpooled(const PyMemAllocatorEx *domain, size_t bytes, int is_zeroed) {
    requesting_thread = pthread_self();
    requested_bytes = bytes ? bytes : 1;
    void *block = allocate(domain, POOLED_MAX + 1, is_zeroed);
    requested_bytes = 0;
    return block;
}

// A context means a tracer or a debug allocator.
int raw_memory_is_bare(const PyMemAllocatorEx *domain) {
    was_substituted = 0;
    if (!domain->ctx) {
        domain->free(NULL, allocate_unpooled(domain, TRIAL, 0));
    }
    return was_substituted;
}

void *raw_memory_from_malloc(const PyMemAllocatorEx *domain, size_t bytes, int is_zeroed) {
    return bytes <= POOLED_MAX ? allocate_unpooled(domain, bytes, is_zeroed)
                               : allocate(domain, bytes, is_zeroed);
}
