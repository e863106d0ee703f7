// What the parts of the search for lost blocks share: the search itself asks the others.
#ifndef INSPECTOR_RAW_MEMORY_SEARCH_H
#define INSPECTOR_RAW_MEMORY_SEARCH_H

#include "leaks/raw_memory/followed.h"
#include "memory/memory.h"
#include "search/holders.h"

enum {
    TRACES_MAX = 64,
    TRACES_SHIFTS = 5,
    TRACES_GROUPS = 2, // of addresses that are much alike
    TRACES_PATTERNS = 32,
    TRACES_BYTES = 4,
    TRACES_STEP_BYTES = 128
};
static const int traces_shifts[TRACES_SHIFTS] = {1, 2, 3, 4, 16};

typedef struct {
    uint64_t masks[TRACES_PATTERNS], values[TRACES_PATTERNS]; // of an aligned word that may be an address
    size_t count;
    uint8_t byte_masks[TRACES_GROUPS][TRACES_BYTES], byte_values[TRACES_GROUPS][TRACES_BYTES]; // from its 3rd
    size_t groups;
    int is_portable; // no AVX2
} traces_filter;

typedef struct {
    scan_range blocks[TRACES_MAX];           // by address; must not overlap
    uintptr_t words[TRACES_MAX];             // a word that leads to the block, or 0
    size_t numbers[TRACES_MAX];              // of the block, for who asks
    uint64_t texts[TRACES_MAX], text_filter; // the last digits of each address, as text
    size_t count;
    int (*is_alive)(void *context, uintptr_t word); // whether a word belongs to memory in use
    void *context;
    uint64_t low, span; // where all of them lie
    traces_filter filter;
    enum { TRACES_FASTEST, TRACES_PORTABLE, TRACES_SLOW } way;
    interrupt_watch watch;
} traces;

// leaks/raw_memory/kept.c: whether a word may keep the block it names; `found` is what it lies in.
int raw_memory_is_kept_by(const search_view *view, const place *found, uintptr_t word);
// Whether a word lies in what an allocator gave beyond what was asked for, a block's own.
int raw_memory_is_rest_of(scan_range asked, const place *found, uintptr_t word);

// The one of these ranges, in order and apart, that holds an address; -1: none.
static inline ptrdiff_t ranges_at(const scan_range *rows, size_t count, uintptr_t address) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (address < rows[middle].start) {
            high = middle;
        } else if (address >= rows[middle].stop) {
            low = middle + 1;
        } else {
            return (ptrdiff_t)middle;
        }
    }
    return -1;
}

// raw_memory_state.c. 1: its allocator says that it is given out, and begins there; 0: it says the contrary,
// or it is gone from the table; -1: it does not say.
int raw_memory_is_given_out(search *s, const raw_memory_block *one);

// raw_memory_filter.c. Knows what may be an address in one of these blocks; finds the first step of memory,
// from `at` on, with one in some of its four vectors, whose bits it gives: 0 where less than a step is left.
void raw_memory_filter_init(traces_filter *ret, const scan_range *blocks, size_t count, int is_portable);
unsigned raw_memory_filter_find(const traces_filter *f, const char **at, const char *stop);

// raw_memory_disguised.c. Between memory_guard_arm and memory_guard_disarm. 0, or -1 when a signal waits.
int raw_memory_disguised(traces *t, const scan_runs *runs);

#endif
