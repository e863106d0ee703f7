// Blocks that PyMem_RawFree takes back, and small blocks that are asked of the raw domain while they are
// followed.
//
// The interpreter's own call of free is in no import slot that we see: hence the hooks of the raw domain.
//
// pymalloc gives the address of the block that was freed last, in the middle of a pool whose
// other blocks everything points at: an old word, or a pointer to the next block, which is where this one
// ends, would be taken for an owner. So while chosen modules' blocks are followed they come from malloc, as
// those beyond 512 bytes do. pymalloc itself is asked, for a size that it hands on, and the raw domain gives
// the size that was meant: so its count of blocks is right, it moves and frees such a block as any other that
// is not its own, and the block is no larger than it was to be. Only where pymalloc stands bare: a tracer
// (tracemalloc) would show the other size, a debug allocator gives no bare neighbours.
//
// The raw domain's functions may run in any thread without the GIL while they are replaced, a word at a time:
// so ours take the context of those before them, and every mixture of old and new words works.
#include "leaks/raw_memory/followed.h"

#include <pthread.h>

enum { POOLED_MAX = 512, TRIAL = 24 };

static PyMemAllocatorEx before_raw;
static int stands;      // ours are in the domain, or in the chain of somebody who came later
static size_t meant;    // instead of POOLED_MAX + 1; 0: no
static pthread_t asker; // the thread that means it: others ask the raw domain without the GIL
static int was_meant;   // the raw domain gave it

static size_t size_of(size_t bytes) {
    if (bytes != POOLED_MAX + 1 || !meant || !pthread_equal(asker, pthread_self())) {
        return bytes;
    }
    size_t wanted = meant;
    was_meant = 1;
    meant = 0;
    return wanted;
}

static void *raw_malloc(void *context, size_t bytes) { return before_raw.malloc(context, size_of(bytes)); }

static void *raw_calloc(void *context, size_t count, size_t each) {
    return count == 1 ? before_raw.calloc(context, count, size_of(each))
                      : before_raw.calloc(context, count, each);
}

static void raw_free(void *context, void *block) {
    raw_memory_gone(block);
    before_raw.free(context, block);
}

static void *raw_realloc(void *context, void *block, size_t bytes) {
    return raw_memory_moved(&before_raw, context, block, bytes);
}

void raw_memory_domain_begin(void) {
    if (!stands) {
        PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &before_raw);
        PyMemAllocatorEx ours = before_raw;
        ours.malloc = raw_malloc;
        ours.calloc = raw_calloc;
        ours.free = raw_free;
        ours.realloc = raw_realloc;
        PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &ours);
        stands = 1;
    }
}

void raw_memory_domain_end(void) {
    PyMemAllocatorEx now;
    PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &now);
    if (stands && now.free == raw_free) { // else somebody stands before us: it stays a passage
        PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &before_raw);
        stands = 0;
    }
}

static void *ask(const PyMemAllocatorEx *domain, size_t bytes, int is_zeroed) {
    return is_zeroed ? domain->calloc(domain->ctx, 1, bytes) : domain->malloc(domain->ctx, bytes);
}

static void *ask_raw(const PyMemAllocatorEx *domain, size_t bytes, int is_zeroed) {
    asker = pthread_self();
    meant = bytes ? bytes : 1;
    void *block = ask(domain, POOLED_MAX + 1, is_zeroed);
    meant = 0;
    return block;
}

// A context is a tracer's, or a debug allocator's.
int raw_memory_is_bare(const PyMemAllocatorEx *domain) {
    was_meant = 0;
    if (!domain->ctx) {
        domain->free(NULL, ask_raw(domain, TRIAL, 0));
    }
    return was_meant;
}

void *raw_memory_ask(const PyMemAllocatorEx *domain, size_t bytes, int is_zeroed) {
    return bytes <= POOLED_MAX ? ask_raw(domain, bytes, is_zeroed) : ask(domain, bytes, is_zeroed);
}
