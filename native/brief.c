// A search for names: it may end as soon as every reference to the targets is explained.
//
// Who holds a list is asked to call it "attribute .rows of <Table>". Its refcount says how many owners there
// are: when so many are found and verified, the rest of memory holds no other, and need not be read. Memory
// is searched a piece at a time, from the targets outward. Where what was found could be all, blocks are
// resolved by what lies near and edges verified, on a copy: were some only borrowed or left over, or their
// owners far, the search goes on with what it had.
#define INSPECTOR_INTERNALS
#include "holders.h"

#include <string.h>

#define NEAR_PIECES 32u
#define TRIALS_MAX 8 // each reads the memory around the blocks and the targets

// Whether each target has as many owners as references; `verified`: by what was resolved, else by hits.
static int all_found(const search *s, int verified) {
    for (size_t t = 0; t < s->target_count; t++) {
        Py_ssize_t found = 0;
        for (size_t i = 0; i < s->edge_count; i++) {
            const edge *e = &s->edges[i];
            if (e->target == t) {
                found += !verified ? (Py_ssize_t)e->words : e->certain ? e->references : 0;
            }
        }
        if (compat_is_immortal(s->targets[t]) || found < search_references(s, t)) {
            return 0;
        }
    }
    return 1;
}

// 1 when the owners found are all; then they are resolved. 0 to go on, -1 with an exception or no room.
static int try_to_end(search *s, scratch *memory) {
    search trial = *s;
    trial.edges = scratch_alloc(memory, s->edge_count * sizeof *s->edges);
    trial.blocks = scratch_alloc(memory, s->edge_count * sizeof *s->blocks);
    if (!trial.edges || !trial.blocks) {
        return -1;
    }
    trial.near_only = 1;
    memcpy(trial.edges, s->edges, s->edge_count * sizeof *s->edges);
    if (blocks_search(&trial, memory) < 0) {
        return -1;
    }
    search_resolve(&trial);
    if (all_found(&trial, 1)) {
        *s = trial;
        return 1;
    }
    s->scan_ns = trial.scan_ns;
    s->scanned_bytes = trial.scanned_bytes;
    return 0;
}

int brief_search(search *s, scratch *memory) {
    scan_runs order;
    int trials = 0;
    if (nearest_first(&s->runs, s->needles, s->target_count, NEAR_PIECES, &order, memory) < 0) {
        return -1;
    }
    for (size_t i = 0; i < order.count; i++) {
        size_t before = s->edge_count;
        if (search_targets(s, &(scan_runs){.rows = &order.rows[i], .count = 1}) < 0) {
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
    if (blocks_search(s, memory) < 0) {
        return -1;
    }
    search_resolve(s);
    return 0;
}
