// The search for disguised addresses of lost blocks, as outside_search.c asks for it.
#ifndef INSPECTOR_OUTSIDE_SEARCH_H
#define INSPECTOR_OUTSIDE_SEARCH_H

#include "holders.h"

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

// outside_kept.c: whether a word may keep the block it names; `found` is what it lies in. Under the guard.
int outside_is_kept_by(const place *found, uintptr_t word);
// outside_traces.c. Between memory_guard_arm and memory_guard_disarm.
void outside_traces(traces *t, const scan_runs *runs);

#endif
