// A search for names: it may end as soon as every reference to the targets is explained.
//
// Who holds a list is asked to call it "attribute .rows of <Table>". Its refcount says how many owners there
// are: when so many are found and verified, the rest of memory holds no other, and need not be read. Memory
// is searched a piece at a time, from the targets outward. Where what was found could be all, blocks are
// resolved by what lies near and edges verified, on a copy. Is all explained but whose some blocks are, then
// the owners of those are looked for everywhere, once: nothing else is missing. Were some words only borrowed
// or left over, the search goes on with what it had.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "search/holders.h"

#define NEAR_PIECES 32u
#define TRIALS_MAX 8 // each reads the memory around the blocks and the targets

// What counts as an owner: every word found; words verified, and those in blocks nobody was found for yet;
// words verified.
typedef enum { BY_HITS, BY_BLOCKS, VERIFIED } owner_count;

static Py_ssize_t count_owners(const edge *e, owner_count by) {
    if (by == BY_HITS || (by == BY_BLOCKS && e->kind == PLACE_BLOCK && !e->resolved)) {
        return (Py_ssize_t)e->words;
    }
    return e->certain ? e->references : 0;
}

// Whether each target has as many owners as references.
static int all_found(const search *s, owner_count by) {
    for (size_t t = 0; t < s->target_count; t++) {
        Py_ssize_t found = 0;
        for (size_t i = 0; i < s->edge_count; i++) {
            const edge *e = &s->edges[i];
            found += e->target == t ? count_owners(e, by) : 0;
        }
        if (compat_is_immortal(s->targets[t]) || found < search_references(s, t)) {
            return 0;
        }
    }
    return 1;
}

typedef enum { GO_ON = 0, ENDED = 1, BLOCKS_ARE_FAR = 2 } trial_end; // -1: an exception, or no room

// Resolves what was found, with the owners of blocks that lie near or with all; keeps that where it is all.
static int try_to_end(search *s, int near_only, scratch *memory) {
    search trial = *s;
    trial.edges = scratch_alloc(memory, s->edge_count * sizeof *s->edges);
    trial.blocks = scratch_alloc(memory, s->edge_count * sizeof *s->blocks);
    if (!trial.edges || !trial.blocks) {
        return -1;
    }
    trial.is_trial = 1;
    trial.near_only = near_only;
    memcpy(trial.edges, s->edges, s->edge_count * sizeof *s->edges);
    if (blocks_search(&trial, memory) < 0) {
        return -1;
    }
    search_resolve(&trial);
    if (all_found(&trial, VERIFIED)) {
        *s = trial;
        return ENDED;
    }
    s->scan_ns = trial.scan_ns;
    s->scanned_bytes = trial.scanned_bytes;
    return near_only && all_found(&trial, BY_BLOCKS) ? BLOCKS_ARE_FAR : GO_ON;
}

int brief_search(search *s, scratch *memory) {
    scan_runs order;
    int trials = 0, wide = 0;
    if (nearest_first(&s->runs, s->needles, s->target_count, NEAR_PIECES, &order, memory) < 0) {
        return -1;
    }
    for (size_t i = 0; i < order.count; i++) {
        size_t before = s->edge_count;
        if (search_targets(s, &(scan_runs){.rows = &order.rows[i], .count = 1}) < 0) {
            return -1;
        }
        if (s->edge_count > before && trials < TRIALS_MAX && all_found(s, BY_HITS)) {
            int end = try_to_end(s, 1, memory);
            if (end == BLOCKS_ARE_FAR && !wide) {
                wide = 1;
                end = try_to_end(s, 0, memory);
            }
            if (end == ENDED || end < 0) {
                return end < 0 ? -1 : 0;
            }
            trials++;
        }
    }
    if (blocks_search(s, memory) < 0) {
        return -1;
    }
    search_resolve(s);
    return 0;
}
