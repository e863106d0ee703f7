// Blocks allocated by Python's own allocators: the domains of PEP 445, hooked by PyMem_SetAllocator.
//
// Overview. bytes, lists and the memory of many extensions come from PyMem_RawMalloc, PyMem_Malloc and
// PyObject_Malloc. With pymalloc, requests over 512 bytes go on to the raw domain: hooking that one sees
// every block worth a record, and small objects cost nothing. A trial allocation checks this when the hooks
// are armed; where it does not hold (PYTHONMALLOC=malloc), the other domains are hooked as well.
//
// Caller. PyMem_RawMalloc ends in a jump to the domain's function, so the return address is its caller's: an
// extension (NumPy's arrays from 2.5 on), or Python. In a Python built without optimization PyMem_RawMalloc
// has its own frame, and is named as the caller.
//
// Races. The raw domain is called without the GIL, and PyMem_SetAllocator copies five words: another thread
// may see a mix of old and new words. Both work: ours reach the previous allocator through `held`, and the
// context is unchanged.
//
// Life cycle. Disarming restores the domain byte for byte, unless another tracer (tracemalloc) was installed
// after us. Then it still calls our functions, which pass the call on and record nothing. Arming again while
// that tracer is installed finds us in its chain already.
// SPDX-License-Identifier: MIT
#include "trace/capi/allocations.h"

enum { DOMAINS = 3 };

static PyMemAllocatorEx held[DOMAINS]; // the previous allocator, stored before ours is installed
static uint8_t in_chain[DOMAINS];      // our functions are installed, or another tracer that may call them
static const void *tried;              // the block of the last trial, as the raw domain returned it
static size_t trial_bytes;             // 0: no trial is under way

#define RECORDED(domain, block, bytes, grown) \
    allocations_note(0, ALLOCATION_PyMem_RawMalloc + (domain), block, bytes, __builtin_return_address(0), \
                     grown)

#define DOMAIN(name, domain, seen) \
    static void *name##_malloc(void *context, size_t bytes) { \
        void *block = held[domain].malloc(context, bytes); \
        seen; \
        RECORDED(domain, block, bytes, 0); \
        return block; \
    } \
    static void *name##_calloc(void *context, size_t count, size_t each) { \
        void *block = held[domain].calloc(context, count, each); \
        RECORDED(domain, block, count * each, 0); \
        return block; \
    } \
    static void *name##_realloc(void *context, void *before, size_t bytes) { \
        uintptr_t grown = allocations_grown(before, bytes); \
        void *block = held[domain].realloc(context, before, bytes); \
        RECORDED(domain, block, bytes, grown); \
        return block; \
    } \
    static void name##_free(void *context, void *block) { held[domain].free(context, block); }

DOMAIN(raw, PYMEM_DOMAIN_RAW, tried = bytes == trial_bytes ? block : tried)
DOMAIN(mem, PYMEM_DOMAIN_MEM, (void)0)
DOMAIN(obj, PYMEM_DOMAIN_OBJ, (void)0)

static const PyMemAllocatorEx ours[DOMAINS] = {
    [PYMEM_DOMAIN_RAW] = {NULL, raw_malloc, raw_calloc, raw_realloc, raw_free},
    [PYMEM_DOMAIN_MEM] = {NULL, mem_malloc, mem_calloc, mem_realloc, mem_free},
    [PYMEM_DOMAIN_OBJ] = {NULL, obj_malloc, obj_calloc, obj_realloc, obj_free},
};

static int same_functions(const PyMemAllocatorEx *a, const PyMemAllocatorEx *b) {
    return a->malloc == b->malloc && a->calloc == b->calloc && a->realloc == b->realloc && a->free == b->free;
}

static void domain_arm(int domain) {
    PyMemAllocatorEx now, next = ours[domain];
    PyMem_GetAllocator((PyMemAllocatorDomain)domain, &now);
    if (same_functions(&now, &next) || (in_chain[domain] && !same_functions(&now, &held[domain]))) {
        return;
    }
    held[domain] = now;
    in_chain[domain] = 1;
    next.ctx = now.ctx;
    PyMem_SetAllocator((PyMemAllocatorDomain)domain, &next);
}

// Returns 1 where another tracer is installed after us, else 0.
static int domain_disarm(int domain) {
    PyMemAllocatorEx now;
    PyMem_GetAllocator((PyMemAllocatorDomain)domain, &now);
    if (!same_functions(&now, &ours[domain])) {
        return in_chain[domain] && !same_functions(&now, &held[domain]);
    }
    PyMem_SetAllocator((PyMemAllocatorDomain)domain, &held[domain]);
    in_chain[domain] = 0;
    return 0;
}

// Whether the raw domain allocates the large blocks of another domain.
static int raw_allocates(void *(*allocate)(size_t), void (*release)(void *)) {
    trial_bytes = 2 * ALLOCATIONS_LEAST_BYTES + 7;
    void *block = allocate(trial_bytes);
    trial_bytes = 0;
    int is_raw = block && tried == block;
    release(block);
    return is_raw;
}

int pymem_arm(void) {
    int hooked = 1;
    domain_arm(PYMEM_DOMAIN_RAW);
    if (!raw_allocates(PyMem_Malloc, PyMem_Free)) {
        domain_arm(PYMEM_DOMAIN_MEM);
        hooked++;
    }
    if (!raw_allocates(PyObject_Malloc, PyObject_Free)) {
        domain_arm(PYMEM_DOMAIN_OBJ);
        hooked++;
    }
    return hooked;
}

int pymem_disarm(void) {
    int left = 0;
    for (int domain = DOMAINS - 1; domain >= 0; domain--) {
        left += domain_disarm(domain);
    }
    return left;
}
