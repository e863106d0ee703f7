// Blocks of memory that chosen modules got outside Python's objects, kept from where they were asked for to
// where they are freed; what the allocator's hooks and the search for lost blocks share.
#ifndef INSPECTOR_RAW_MEMORY_H
#define INSPECTOR_RAW_MEMORY_H

#include "memory/memory.h"
#include "module/native.h"

// FUNCTION(name, what Python shows): who gave the block. Those of C++ are operator new and new[], with and
// without alignment, with and without exceptions.
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
    uintptr_t hidden;       // ~address, so that no search takes this word for an owner; 0: none
    uintptr_t hidden_first; // ~its first word, when it was given
    uint64_t bytes;         // asked for
    uint32_t code;          // id in INTERNED; 0: not known
    int32_t lasti;
    uint32_t method;   // 1 + number of the call from Python it was in; 0: none
    uint16_t stack;    // number of its native frames (trace/record/stacks.c); 0: none
    uint16_t function; // of RAW_MEMORY_FUNCTIONS; beyond these the row of trace/capi/capi.def
    uint8_t run;
} raw_memory_block;

extern uint32_t raw_memory_count __attribute__((visibility("hidden"))); // blocks that are not freed

// outside.c. None of these needs the GIL.
// A block was given; `frame` is where the hook's caller has its return address.
void raw_memory_given(int function, const void *block, size_t bytes, const void *frame);
// Whether what is given to code at this address is followed now.
int raw_memory_follows(uintptr_t from);
// The same as raw_memory_given from an allocator of Python's, whose caller may be anybody.
void raw_memory_domain(int function, const void *block, size_t bytes, const void *frame, int follows);
// A function of the C-API, by its row, is called, and gave a block that belongs to the caller from now on.
// Needs the GIL.
void raw_memory_hand_begin(void);
void raw_memory_handed_over(int row, const void *block, const void *frame); // a word of the hook's frame
void raw_memory_gone_slow(const void *block);
// Whether the block was known; it is no more. The other enters it again, where it lies then.
int raw_memory_take(const void *block, raw_memory_block *ret);
void raw_memory_put(const raw_memory_block *taken, const void *block, size_t bytes);
// Has its domain move a block, which keeps its row.
void *raw_memory_moved(const PyMemAllocatorEx *domain, void *context, void *block, size_t bytes);
// A copy of all that is not freed, in memory of the caller; how many, at most `room`.
size_t raw_memory_copy(raw_memory_block *ret, size_t room);
int raw_memory_has(const raw_memory_block *one); // whether it is there still, as it was copied
int raw_memory_is_open(void);                    // frees are listened to
void raw_memory_text_add(scan_range text);       // of a chosen module
int raw_memory_is_chosen(uintptr_t from);
void raw_memory_ranges(scan_range ret[1]); // memory of the table: a search leaves it out

// leaks/raw_memory/fresh.c
void raw_memory_fresh_begin(void); // blocks of malloc come from fresh memory, as far as can be
void raw_memory_fresh_end(void);

// leaks/raw_memory/raw_domain.c: what PyMem_RawFree takes back is told between these two, under the GIL.
void raw_memory_domain_begin(void);
void raw_memory_domain_end(void);
// Between them: whether a domain is pymalloc and nothing else. Of such a one, a block that is in no pool.
extern uint8_t raw_memory_is_handing __attribute__((visibility("hidden"))); // as below, a call is under way
int raw_memory_is_bare(const PyMemAllocatorEx *domain);
void *raw_memory_ask(const PyMemAllocatorEx *domain, size_t bytes, int is_zeroed);

static inline void raw_memory_gone(const void *block) {
    if (__builtin_expect(raw_memory_count, 0) && block) {
        raw_memory_gone_slow(block);
    }
}

#endif
