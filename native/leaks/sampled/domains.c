// Sampled growth of Python's own allocators: the three domains of PEP 445.
//
// pymalloc passes blocks over 512 bytes to the raw domain, whose hook counts them; the others count small
// ones alone. A trial shows whether that holds (not with PYTHONMALLOC=malloc). As in trace/capi/pymem.c,
// another thread may see a mixture of old and new words, and each works; where another tracer came later and
// calls ours, they stay and pass calls on.
// SPDX-License-Identifier: MIT
#include "leaks/sampled/counted.h"

enum { DOMAINS = 3, POOLED_MAX = 512 };

static PyMemAllocatorEx held[DOMAINS]; // the previous allocator, stored before ours is installed
static uint8_t installed[DOMAINS];
static size_t counted_max[DOMAINS]; // larger blocks are counted by the raw domain
static uint64_t raw_calls;

#define ALLOCATED(domain, block, bytes) \
    if ((bytes) <= counted_max[domain]) { \
        growth_allocated(GROWTH_PyMem_RawMalloc + (domain), block, bytes, __builtin_frame_address(0)); \
    }

#define DOMAIN(name, domain, seen) \
    static void *name##_malloc(void *context, size_t bytes) { \
        void *block = held[domain].malloc(context, bytes); \
        seen; \
        ALLOCATED(domain, block, bytes); \
        return block; \
    } \
    static void *name##_calloc(void *context, size_t count, size_t each) { \
        void *block = held[domain].calloc(context, count, each); \
        ALLOCATED(domain, block, count * each); \
        return block; \
    } \
    static void *name##_realloc(void *context, void *before, size_t bytes) { \
        growth_row row; \
        int was_there = growth_taken(before, &row); \
        void *block = held[domain].realloc(context, before, bytes); \
        if (was_there && !block) { \
            growth_put(&row); \
        } \
        ALLOCATED(domain, block, bytes); \
        return block; \
    } \
    static void name##_free(void *context, void *block) { \
        growth_freed(block); \
        held[domain].free(context, block); \
    }

DOMAIN(raw, PYMEM_DOMAIN_RAW, raw_calls++)
DOMAIN(mem, PYMEM_DOMAIN_MEM, (void)0)
DOMAIN(obj, PYMEM_DOMAIN_OBJ, (void)0)

static const PyMemAllocatorEx ours[DOMAINS] = {
    [PYMEM_DOMAIN_RAW] = {NULL, raw_malloc, raw_calloc, raw_realloc, raw_free},
    [PYMEM_DOMAIN_MEM] = {NULL, mem_malloc, mem_calloc, mem_realloc, mem_free},
    [PYMEM_DOMAIN_OBJ] = {NULL, obj_malloc, obj_calloc, obj_realloc, obj_free},
};

static void domain_arm(int domain) {
    if (!installed[domain]) {
        PyMemAllocatorEx next = ours[domain];
        PyMem_GetAllocator((PyMemAllocatorDomain)domain, &held[domain]);
        next.ctx = held[domain].ctx;
        PyMem_SetAllocator((PyMemAllocatorDomain)domain, &next);
        installed[domain] = 1;
    }
}

static size_t counted_by(void *(*allocate)(size_t), void (*release)(void *)) {
    uint64_t before = raw_calls;
    void *volatile block = allocate(4 * POOLED_MAX);
    release(block);
    return raw_calls != before ? POOLED_MAX : SIZE_MAX;
}

void growth_domains_arm(void) {
    for (int domain = 0; domain < DOMAINS; domain++) {
        domain_arm(domain);
    }
    counted_max[PYMEM_DOMAIN_RAW] = SIZE_MAX;
    counted_max[PYMEM_DOMAIN_MEM] = counted_by(PyMem_Malloc, PyMem_Free);
    counted_max[PYMEM_DOMAIN_OBJ] = counted_by(PyObject_Malloc, PyObject_Free);
}

void growth_domains_disarm(void) {
    for (int domain = 0; domain < DOMAINS; domain++) {
        PyMemAllocatorEx now;
        PyMem_GetAllocator((PyMemAllocatorDomain)domain, &now);
        if (installed[domain] && now.malloc == ours[domain].malloc && now.free == ours[domain].free) {
            PyMem_SetAllocator((PyMemAllocatorDomain)domain, &held[domain]);
            installed[domain] = 0;
        }
    }
}
