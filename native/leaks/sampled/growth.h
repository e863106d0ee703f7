// Sampled allocations: which call asked for memory that is still in use. The hooks call what is declared
// here.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_GROWTH_H
#define INSPECTOR_GROWTH_H

#include "trace/capi/slot_table.h"
#include "trace/record/ring.h"

// ALLOCATOR(name, hook): functions that slots import. operator new ends in malloc, in a slot of libstdc++.
#define GROWTH_IMPORTED(ALLOCATOR) \
    ALLOCATOR(malloc, size) \
    ALLOCATOR(calloc, product) \
    ALLOCATOR(realloc, moved) \
    ALLOCATOR(reallocarray, moved_product) \
    ALLOCATOR(aligned_alloc, second) \
    ALLOCATOR(memalign, second) \
    ALLOCATOR(posix_memalign, stored) \
    ALLOCATOR(strdup, text) \
    ALLOCATOR(strndup, some_text) \
    ALLOCATOR(mmap, mapped) \
    ALLOCATOR(mmap64, mapped) \
    ALLOCATOR(free, freed) \
    ALLOCATOR(munmap, unmapped) \
    ALLOCATOR(ffi_call, foreign) \
    ALLOCATOR(cffistatic_ffi_call, foreign)
// Python's domains, and the pools of Arrow.
#define GROWTH_OTHERS(ALLOCATOR) \
    ALLOCATOR(PyMem_RawMalloc, ) \
    ALLOCATOR(PyMem_Malloc, ) ALLOCATOR(PyObject_Malloc, ) ALLOCATOR(MemoryPool, )
#define GROWTH_ID(name, ...) GROWTH_##name,
enum { GROWTH_IMPORTED(GROWTH_ID) GROWTH_OTHERS(GROWTH_ID) GROWTH_FUNCTIONS };

enum { GROWTH_PYTHON_FRAMES = 24, GROWTH_NATIVE_FRAMES = 20, GROWTH_SITES = 1 << 12, GROWTH_ROWS = 1 << 16 };

// Where memory was asked for. Frames innermost first.
typedef struct {
    uint64_t hash; // 0: unused
    uint8_t python_count, native_count;
    uint8_t is_beside;   // the Python frames are the main thread's, which waited or ran meanwhile
    uint8_t is_borrowed; // nobody holds the code objects
    PyCodeObject *codes[GROWTH_PYTHON_FRAMES]; // owned; or is_borrowed
    int32_t instructions[GROWTH_PYTHON_FRAMES];
    uintptr_t native[GROWTH_NATIVE_FRAMES];
} growth_site;

typedef struct {
    uintptr_t hidden; // ~address, so that no search takes it for an owner; 0: none
    uint64_t bytes, ns;
    uint32_t site;
    uint32_t function; // GROWTH_<name>
} growth_row;

extern int growth_open __attribute__((visibility("hidden"))); // allocations are sampled
enum { GROWTH_FILTER_LOG2 = 15 };
extern uint8_t growth_filter[1 << GROWTH_FILTER_LOG2] __attribute__((visibility("hidden")));

// By page: blocks that are freed one after the other lie side by side, and ask for the same cache line.
static inline uint32_t growth_bit(uintptr_t address) {
    return (uint32_t)((address >> 12 ^ address >> (12 + GROWTH_FILTER_LOG2)) &
                      ((1 << GROWTH_FILTER_LOG2) - 1));
}

// sampler.c. None of these needs the GIL. `frame`: address in the hook's frame, the same for the same path.
void growth_allocated_slow(int function, const void *block, size_t bytes, const void *frame);
int growth_taken_slow(const void *block, growth_row *ret); // whether it was there; it is removed
void growth_put(const growth_row *row);                    // puts back what was taken
void growth_unmapped(uintptr_t start, size_t bytes);

extern int growth_borrows __attribute__((visibility("hidden"))); // sites take no references
// sites.c. The number of the running thread's site; 0: no room. Called under the lock of sampler.c.
uint32_t growth_site_here(const void *frame, int function);
const growth_site *growth_site_of(uint32_t number); // borrowed, or NULL
int growth_sites_init(void);                        // 0, or -1 with an exception set
void growth_sites_deinit(void);                     // needs the GIL

// sampler.c, for the session and the reader.
void growth_start(double mean); // empties the table; the session opens it
void growth_stop(void);
void growth_forget_all(void);
size_t growth_copy(growth_row *ret, size_t most);
uint64_t growth_dropped(void);
uint64_t growth_watched_ns(void); // from the begin to the end, or to now

// hooks.c, domains.c, arrow_pools.c: arm and disarm. Both need the GIL.
extern const got_source growth_source __attribute__((visibility("hidden")));
void growth_foreign_find(void); // libffi's function, which only ctypes and cffi see
void growth_domains_arm(void);
void growth_domains_disarm(void);
int growth_pools_arm(void); // number of pools that are hooked
void growth_pools_disarm(void);

#endif
