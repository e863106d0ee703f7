// Blocks that Python's own allocators give: the domains of PEP 445, hooked by PyMem_SetAllocator.
//
// Overview. bytes, lists and the memory of many extensions come from PyMem_RawMalloc, PyMem_Malloc and
// PyObject_Malloc. With pymalloc, whatever is over 512 bytes is handed to the raw domain, so that hooking
// that one sees every block worth a record and small objects cost nothing. Whether that is so is tried when
// the hooks are armed; where it is not (PYTHONMALLOC=malloc), the other domains are hooked as well.
//
// Who asked. PyMem_RawMalloc ends in a jump to the domain's function, so that the return address is its
// caller's: an extension (NumPy's arrays from 2.5 on), or Python. A Python built without optimization has a
// frame of its own there, and is named instead.
//
// Races. The raw domain is called without the GIL, and PyMem_SetAllocator copies five words: another thread
// may see some of the old ones beside some of ours. Either is right: our functions reach what was there
// before through `held`, and the context is the one that was there.
//
// Life cycle. Disarmed, the domain holds what it held, to the byte, unless another tracer (tracemalloc) has
// put itself before us: then it calls our functions, they call on, and nothing is recorded. Armed again while
// that one is still there, we are in its chain already.
#include "module/native.h"

#include "trace/capi/allocations.h"

enum { DOMAINS = 3 };

static PyMemAllocatorEx held[DOMAINS]; // what was there; written before our functions are
static uint8_t in_chain[DOMAINS];      // our functions are there, or another tracer's that may call them
static const void *tried;              // the block of the last trial, as the raw domain saw it
static size_t trial_bytes;             // 0: none is under way

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

// 1: another tracer stands before us.
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

// Whether the raw domain gives the large blocks of the others.
static int raw_gives(void *(*ask)(size_t), void (*give_back)(void *)) {
    trial_bytes = 2 * ALLOCATIONS_LEAST_BYTES + 7;
    void *block = ask(trial_bytes);
    trial_bytes = 0;
    int gives = block && tried == block;
    give_back(block);
    return gives;
}

int pymem_arm(void) {
    int hooked = 1;
    domain_arm(PYMEM_DOMAIN_RAW);
    if (!raw_gives(PyMem_Malloc, PyMem_Free)) {
        domain_arm(PYMEM_DOMAIN_MEM);
        hooked++;
    }
    if (!raw_gives(PyObject_Malloc, PyObject_Free)) {
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
