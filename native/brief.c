// A search for names: it may end as soon as every reference to the targets is explained.
//
// Who holds a list is asked to call it "attribute .rows of <Table>". Its refcount says how many owners there
// are: when so many are found and verified, the rest of memory holds no other, and need not be read. Memory
// is searched a piece at a time. Where what was found could be all, blocks are resolved and edges verified on
// a copy: were some only borrowed or left over, the search goes on with what it had.
#define INSPECTOR_INTERNALS
#include "holders.h"

#include <string.h>

#define PIECE_BYTES ((uintptr_t)8 << 20)
#define TRIALS_MAX 3 // each searches for the owners of blocks, where they most likely are

// Whether each target has as many owners as references; `verified`: by what was resolved, else by hits.
static int all_found(const search *s, int verified) {
    for (size_t t = 0; t < s->target_count; t++) {
        Py_ssize_t found = 0;
        for (size_t i = 0; i < s->edge_count; i++) {
            const edge *e = &s->edges[i];
            if (e->target == t) {
                found += !verified ? (Py_ssize_t)e->words * !e->doubted : e->certain ? e->references : 0;
            }
        }
        if (compat_is_immortal(s->targets[t]) || found < search_references(s, t)) {
            return 0;
        }
    }
    return 1;
}

static int is_verified(const search *trial, uintptr_t word) {
    for (size_t i = 0; i < trial->edge_count; i++) {
        if (trial->edges[i].word == word) {
            return trial->edges[i].certain && trial->edges[i].references;
        }
    }
    return 0;
}

// 1 when the owners found are all; then they are resolved. 0 to go on, -1 with an exception or no room.
static int try_to_end(search *s, scratch *memory) {
    search trial = *s;
    trial.edges = scratch_alloc(memory, s->edge_count * sizeof *s->edges);
    trial.blocks = scratch_alloc(memory, s->edge_count * sizeof *s->blocks);
    if (!trial.edges || !trial.blocks) {
        return -1;
    }
    trial.likely_only = 1;
    memcpy(trial.edges, s->edges, s->edge_count * sizeof *s->edges);
    if (blocks_search(&trial, memory) < 0) {
        return -1;
    }
    search_resolve(&trial);
    if (all_found(&trial, 1)) {
        *s = trial;
        return 1;
    }
    for (size_t i = 0; i < s->edge_count; i++) {
        s->edges[i].doubted = s->edges[i].kind == PLACE_BLOCK && !is_verified(&trial, s->edges[i].word);
    }
    s->scan_ns = trial.scan_ns;
    s->scanned_bytes = trial.scanned_bytes;
    return 0;
}

int brief_search(search *s, scratch *memory) {
    int trials = 0;
    for (size_t i = 0; i < s->runs.count; i++) {
        for (uintptr_t at = s->runs.rows[i].start; at < s->runs.rows[i].stop; at += PIECE_BYTES) {
            uintptr_t left = s->runs.rows[i].stop - at;
            scan_range piece = {at, at + (left < PIECE_BYTES ? left : PIECE_BYTES)};
            size_t before = s->edge_count;
            if (search_targets(s, &(scan_runs){.rows = &piece, .count = 1}, memory) < 0) {
                return -1;
            }
            if (s->edge_count > before && trials < TRIALS_MAX && all_found(s, 0)) {
                int ended = try_to_end(s, memory);
                if (ended) {
                    return ended < 0 ? -1 : 0;
                }
                trials++;
            }
        }
    }
    if (blocks_search(s, memory) < 0) {
        return -1;
    }
    search_resolve(s);
    return 0;
}
