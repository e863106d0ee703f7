// Shared by the parts of the search for leaked blocks: leaks/raw_memory/search.c calls the others.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_RAW_MEMORY_SEARCH_H
#define INSPECTOR_RAW_MEMORY_SEARCH_H

#include "leaks/raw_memory/followed.h"
#include "memory/memory.h"
#include "search/holders.h"

enum {
    DISGUISE_MAX = 64,
    DISGUISE_SHIFTS = 5,
    DISGUISE_GROUPS = 2, // groups of similar addresses
    DISGUISE_PATTERNS = 32,
    DISGUISE_BYTES = 4,
    DISGUISE_STEP_BYTES = 128
};
static const int disguise_shifts[DISGUISE_SHIFTS] = {1, 2, 3, 4, 16};

typedef struct {
    uint64_t masks[DISGUISE_PATTERNS], values[DISGUISE_PATTERNS]; // forms of an address in an aligned word
    size_t count;
    uint8_t byte_masks[DISGUISE_GROUPS][DISGUISE_BYTES],
        byte_values[DISGUISE_GROUPS][DISGUISE_BYTES]; // from byte 2
    size_t groups;
    int is_portable; // no AVX2
} disguise_filter;

typedef struct {
    scan_range blocks[DISGUISE_MAX];           // by address; must not overlap
    uintptr_t words[DISGUISE_MAX];             // address of a match for the block, or 0
    size_t numbers[DISGUISE_MAX];              // of the block, for the caller
    uint64_t texts[DISGUISE_MAX], text_filter; // last digits of each address, as text
    size_t count;
    int (*is_alive)(void *context, uintptr_t word); // whether a word belongs to memory in use
    void *context;
    uint64_t low, span; // range around all blocks
    disguise_filter filter;
    enum { DISGUISE_FASTEST, DISGUISE_PORTABLE, DISGUISE_SLOW } way;
    interrupt_watch watch;
} disguise_search;

enum { LEAK_EDGES_MAX = 1 << 20 };
enum { LEAK_LOST, LEAK_LOST_WITH, LEAK_REACHED, LEAK_UNASSIGNED }; // reach of a block

typedef struct {
    uint32_t from, to;
} block_edge;

typedef struct {
    search s; // first: search_scan() passes it back
    raw_memory_block *blocks;
    scan_range *needles;
    uint8_t *reach;
    uintptr_t *word; // address of the pointer that reaches the block from outside; 0: none
    uint8_t *kind;   // place_kind of that word
    size_t count;
    block_edge *edges;
    size_t edge_count;
    uint32_t *waiting; // blocks whose edges are followed next; each at most once
    size_t waiting_count;
    scan_range own_stack, arena; // arena: the data of libc
} leak_search;

// leaks/raw_memory/search.c. What a search of all memory needs: mappings, pages, what every word is part of.
// `leave_out`: ranges as Python gives them, beside the tool's own; `frame`: the caller's. 0, or -1 with an
// exception set.
int leak_search_prepare(leak_search *h, PyObject *module /* borrowed */, PyObject *leave_out /* borrowed */,
                        PyObject *own_prefix /* borrowed */, uintptr_t frame, scratch *memory);

// leaks/raw_memory/packed.c. Adds the edges by pointers at odd offsets, sorted; whether there are any. Call
// it with the memory guard armed.
int raw_memory_packed(leak_search *h);

// leaks/raw_memory/kept.c: whether a word keeps the block it refers to. `found`: what the word lies in.
int raw_memory_is_kept_by(const search_view *view, const place *found, uintptr_t word);
// Whether a word lies in the slack of the block: memory beyond the requested size.
int raw_memory_is_slack_of(scan_range requested, const place *found, uintptr_t word);

// The index of the range that holds an address; -1: none. The ranges are sorted and do not overlap.
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

// leaks/raw_memory/state.c. 1: the allocator says that the block is live and begins there. 0: it says that it
// is not, or the table no longer has it. -1: unknown.
int raw_memory_is_live(search *s, const raw_memory_block *one);

// leaks/raw_memory/filter.c. Prepares the filter for these blocks; finds the first step of memory from `at`
// on with a match. Returns one bit per 32-byte part with a match; 0 if less than a step is left.
void raw_memory_filter_init(disguise_filter *ret, const scan_range *blocks, size_t count, int is_portable);
unsigned raw_memory_filter_find(const disguise_filter *f, const char **at, const char *stop);

// leaks/raw_memory/disguised.c. Call it with the memory guard armed. 0, or -1 if a signal is pending.
int raw_memory_disguised(disguise_search *t, const scan_runs *runs);

#endif
