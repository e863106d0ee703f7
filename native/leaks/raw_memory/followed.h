// Raw memory: blocks that chosen modules allocate outside Python objects, followed from allocation to free.
// Shared by the hooks of the allocators and the search for leaked blocks.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_RAW_MEMORY_FOLLOWED_H
#define INSPECTOR_RAW_MEMORY_FOLLOWED_H

#include "memory/memory.h"
#include "trace/capi/slot_table.h"

// FUNCTION(name, kind of hook): the allocating function. _Zn*: operator new and new[] of C++.
#define RAW_MEMORY_IMPORTED(FUNCTION) \
    FUNCTION(malloc, size) \
    FUNCTION(calloc, product) \
    FUNCTION(aligned_alloc, second) \
    FUNCTION(memalign, second) \
    FUNCTION(valloc, size) \
    FUNCTION(posix_memalign, stored) \
    FUNCTION(strdup, text) \
    FUNCTION(__strdup, text) \
    FUNCTION(strndup, part) \
    FUNCTION(__strndup, part) \
    FUNCTION(asprintf, written) \
    FUNCTION(vasprintf, written_list) \
    FUNCTION(PyMem_RawMalloc, size) \
    FUNCTION(PyMem_RawCalloc, product) \
    FUNCTION(PyMem_RawRealloc, moved) \
    FUNCTION(_Znwm, size) \
    FUNCTION(_Znam, size) \
    FUNCTION(_ZnwmRKSt9nothrow_t, first) \
    FUNCTION(_ZnamRKSt9nothrow_t, first) \
    FUNCTION(_ZnwmSt11align_val_t, first) \
    FUNCTION(_ZnamSt11align_val_t, first)
#define RAW_MEMORY_OTHERS(FUNCTION) FUNCTION(realloc, ) FUNCTION(PyMem_Malloc, ) FUNCTION(PyObject_Malloc, )

enum {
#define RAW_MEMORY_ID(name, ...) RAW_MEMORY_##name,
    RAW_MEMORY_IMPORTED(RAW_MEMORY_ID) RAW_MEMORY_OTHERS(RAW_MEMORY_ID) RAW_MEMORY_FUNCTIONS
#undef RAW_MEMORY_ID
};

typedef struct {
    uintptr_t hidden;       // ~address, so that no search takes it for an owner; 0: none
    uintptr_t hidden_first; // ~its first word at allocation
    uint64_t bytes;         // requested
    uint32_t code;          // id in INTERNED; 0: unknown
    int32_t lasti;
    uint32_t method;   // 1 + number of the enclosing call from Python; 0: none
    uint16_t stack;    // number of its native frames (trace/record/stacks.c); 0: none
    uint16_t function; // RAW_MEMORY_<name>; from RAW_MEMORY_FUNCTIONS on: row of trace/capi/capi.def
    uint8_t run;
} raw_memory_block;

extern uint32_t raw_memory_count __attribute__((visibility("hidden"))); // number of live blocks

// None of these needs the GIL, unless it says so.
// Records an allocated block. `frame` is the address of the return address of the hook's caller.
void raw_memory_allocated(int function, const void *block, size_t bytes, const void *frame);
// Whether blocks allocated by code at this address are followed now.
int raw_memory_follows(uintptr_t from);
// The same from an allocator domain of Python, with any caller; records the block if `follows`.
void raw_memory_domain_allocated(int function, const void *block, size_t bytes, const void *frame,
                                 int follows);
// Before and after a C-API function, by its row, that returns a block which the caller owns from then on.
// `frame`: a word of the hook's stack frame. Needs the GIL.
void raw_memory_hand_begin(void);
void raw_memory_handed_over(int row, const void *block, const void *frame);
void raw_memory_freed_slow(const void *block);
// Removes the row of a block: whether it was known. raw_memory_put() adds it again, at its new address.
int raw_memory_take(const void *block, raw_memory_block *ret);
// A call from Python returned while a field of an object holds the block: who loses it later is another call.
void raw_memory_settle(const void *block);
void raw_memory_put(const raw_memory_block *taken, const void *block, size_t bytes);
// Reallocates a block in its domain; the row of the block moves with it.
void *raw_memory_moved(const PyMemAllocatorEx *domain, void *context, void *block, size_t bytes);
// Copies the rows of live blocks to memory of the caller, at most `room`. Returns their number.
size_t raw_memory_copy(raw_memory_block *ret, size_t room);
int raw_memory_has(const raw_memory_block *copy); // whether the copied row is still in the table
int raw_memory_is_open(void);                     // whether frees are recorded
void raw_memory_text_add(scan_range text);        // code of a chosen module
int raw_memory_is_chosen(uintptr_t from);
void raw_memory_ranges(scan_range ret[1]); // memory of the table: searches skip it

// leaks/raw_memory/fresh.c
void raw_memory_fresh_want(
    void); // the first watched call begins it: a block of code without one pays nothing
void raw_memory_fresh_begin(void); // if wanted: malloc uses fresh memory from now on, as far as possible
void raw_memory_fresh_end(void);

// leaks/raw_memory/raw_domain.c: between these two, frees of PYMEM_DOMAIN_RAW are recorded. Under the GIL.
void raw_memory_domain_begin(void);
void raw_memory_domain_end(void);
// Between them: is_bare: whether a domain is pymalloc alone; from_malloc: then allocates outside its pools.
extern uint8_t raw_memory_is_handing __attribute__((visibility("hidden"))); // a hand-over is open
int raw_memory_is_bare(const PyMemAllocatorEx *domain);
void *raw_memory_from_malloc(const PyMemAllocatorEx *domain, size_t bytes, int is_zeroed);

static inline void raw_memory_freed(const void *block) {
    if (__builtin_expect(raw_memory_count, 0) && block) {
        raw_memory_freed_slow(block);
    }
}

// The blocks that the object allocator returned in each run (allocation_runs.c).
// The number of the run; 0: allocations are not recorded.
extern int allocation_run __attribute__((visibility("hidden")));
void allocation_runs_add(void *block);
int allocation_runs_remove(void *block); // whether the block was recorded
void allocation_runs_deinit(void);
scan_range allocation_runs_range(void); // the table holds addresses of blocks: searches skip it
// Calls `visit` with each object in such a block, borrowed, and its run. `is_type`: whether a type is there.
void allocation_runs_each(int (*is_type)(uintptr_t), void (*look)(PyObject * /* borrowed */, int));

// The functions that allocate memory, as import slots of chosen modules name them (hooks.c).
extern const got_source raw_memory_source __attribute__((visibility("hidden")));

#endif
