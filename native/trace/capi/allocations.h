// Allocated blocks as events: what the hooks of trace/capi/allocations.c and trace/capi/pymem.c share.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_ALLOCATIONS_H
#define INSPECTOR_ALLOCATIONS_H

#include "trace/capi/slot_table.h"
#include "trace/record/ring.h"

// ALLOCATOR(name, hook): functions that slots import. Append only, never reorder: stored traces hold the
// numbers. The C++ names are operator new and new[], with and without alignment, with and without exceptions.
#define ALLOCATIONS_IMPORTED(ALLOCATOR) \
    ALLOCATOR(malloc, size) \
    ALLOCATOR(calloc, product) \
    ALLOCATOR(realloc, grown) \
    ALLOCATOR(reallocarray, grown_product) \
    ALLOCATOR(aligned_alloc, second) \
    ALLOCATOR(memalign, second) \
    ALLOCATOR(posix_memalign, stored) \
    ALLOCATOR(mmap, mapped) \
    ALLOCATOR(mmap64, mapped) \
    ALLOCATOR(_Znwm, size) \
    ALLOCATOR(_Znam, size) \
    ALLOCATOR(_ZnwmRKSt9nothrow_t, first) \
    ALLOCATOR(_ZnamRKSt9nothrow_t, first) \
    ALLOCATOR(_ZnwmSt11align_val_t, first) \
    ALLOCATOR(_ZnamSt11align_val_t, first)
// The domains of Python's own allocators (trace/capi/pymem.c).
#define ALLOCATIONS_DOMAINS(DOMAIN) DOMAIN(PyMem_RawMalloc) DOMAIN(PyMem_Malloc) DOMAIN(PyObject_Malloc)

#define ALLOCATIONS_ID(name, ...) ALLOCATION_##name,
enum { ALLOCATIONS_IMPORTED(ALLOCATIONS_ID) ALLOCATIONS_DOMAINS(ALLOCATIONS_ID) ALLOCATIONS_COUNT };

#define ALLOCATIONS_LEAST_BYTES 4096

extern int allocations_open __attribute__((visibility("hidden"))); // 1: blocks are recorded

typedef struct {
    uint32_t slot, func;
    const void *block;
    size_t bytes;
    const void *caller;
    uintptr_t grown; // old address of a recorded-size block that grew; 0 for a new block
} allocation;

void allocations_record(const allocation *of);
// The address of a block that realloc is about to grow; 0 where it is too small to be recorded, or its size
// is not known.
uintptr_t allocations_grown(const void *before, size_t bytes);

static inline int allocations_counts(size_t bytes) {
    return __builtin_expect(bytes >= ALLOCATIONS_LEAST_BYTES, 0) && allocations_open && !ring_here.quiet;
}

// Records an allocated block. Smaller ones are skipped: they are many, and hold no payload worth naming.
static inline void allocations_note(uint32_t slot, uint32_t func, const void *block, size_t bytes,
                                    const void *caller, uintptr_t grown) {
    if (allocations_counts(bytes) && block) {
        allocation of = {slot, func, block, bytes, caller, grown};
        allocations_record(&of);
    }
}

// trace/capi/pymem.c
int pymem_arm(void);    // number of domains that are hooked
int pymem_disarm(void); // number of domains left as they are, because another tracer hooked them after us

// Allocating functions, as slots import them.
extern const got_source allocations_source __attribute__((visibility("hidden")));

#endif
