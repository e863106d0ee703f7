// What the parts of the search for lost blocks share: the search itself asks the others.
#ifndef INSPECTOR_OUTSIDE_SEARCH_H
#define INSPECTOR_OUTSIDE_SEARCH_H

#include "holders.h"
#include "outside.h"

enum { TRACES_MAX = 64 };

typedef struct {
    scan_range blocks[TRACES_MAX];           // by address; must not overlap
    uintptr_t words[TRACES_MAX];             // a word that leads to the block, or 0
    size_t numbers[TRACES_MAX];              // of the block, for who asks
    uint64_t texts[TRACES_MAX], text_filter; // the last digits of each address, as text
    size_t count;
    int (*is_alive)(void *context, uintptr_t word); // whether a word belongs to memory in use
    void *context;
    uint64_t low, span; // where all of them lie
} traces;

// outside_kept.c: whether a word may keep the block it names; `found` is what it lies in.
int outside_is_kept_by(const place *found, uintptr_t word);

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

// outside_state.c. 1: its allocator says that it is given out, and begins there; 0: it says the contrary, or
// it is gone from the table; -1: it does not say.
int outside_is_given_out(search *s, const outside_block *one);

// outside_traces.c. Between memory_guard_arm and memory_guard_disarm.
void outside_traces(traces *t, const scan_runs *runs);

#endif
