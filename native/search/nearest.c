// The order of a search: memory near what is looked for comes first.
//
// Things made together lie together: a list and its items, an instance and its attributes, most often within
// a few hundred KiB. A search that may end when it has found its answer therefore begins beside its needles
// and goes outward, for as many pieces as may be near; the rest it reads by address, as memory and the walks
// over a heap of malloc like it best. For the order only: every run is there, once.
// SPDX-License-Identifier: MIT
#include "memory/addresses.h"
#include "search/holders.h"

typedef struct {
    scan_range range;
    uintptr_t distance; // to the nearest needle
} piece;

static int compare_distances(const void *a, const void *b) {
    uintptr_t x = ((const piece *)a)->distance, y = ((const piece *)b)->distance;
    return x == y ? addresses_compare(a, b) : x < y ? -1 : 1;
}

// Needles are sorted and do not overlap.
static uintptr_t distance_to(const scan_range *needles, size_t count, scan_range range) {
    size_t low = addresses_below(needles, count, sizeof *needles, range.start);
    low -= low && needles[low - 1].stop > range.start; // the first needle that ends behind that start
    uintptr_t before = low ? range.start - needles[low - 1].stop : UINTPTR_MAX;
    uintptr_t behind = low == count                      ? UINTPTR_MAX
                       : needles[low].start < range.stop ? 0
                                                         : needles[low].start - range.stop;
    return before < behind ? before : behind;
}

int nearest_first(const scan_runs *runs, const scan_range *needles, size_t count, size_t near, scan_runs *ret,
                  scratch *memory) {
    size_t most = runs->count, made = 0;
    for (size_t i = 0; i < runs->count; i++) {
        most += (runs->rows[i].stop - runs->rows[i].start) / NEAREST_PIECE_BYTES + 1;
    }
    piece *pieces = scratch_alloc(memory, most * sizeof *pieces);
    *ret = (scan_runs){.rows = scratch_alloc(memory, most * sizeof *ret->rows), .bytes = runs->bytes};
    if (!pieces || !ret->rows) {
        return -1;
    }
    for (size_t i = 0; i < runs->count; i++) {
        scan_range run = runs->rows[i];
        while (run.start < run.stop) { // cut at whole addresses, so that pools stay whole
            uintptr_t next = (run.start & ~(NEAREST_PIECE_BYTES - 1)) + NEAREST_PIECE_BYTES;
            scan_range range = {run.start, next < run.stop ? next : run.stop};
            pieces[made++] = (piece){range, distance_to(needles, count, range)};
            run.start = range.stop;
        }
    }
    qsort(pieces, made, sizeof *pieces, compare_distances);
    near = near < made ? near : made;
    qsort(pieces + near, made - near, sizeof *pieces, addresses_compare);
    for (size_t i = 0; i < made; i++) {
        ret->rows[ret->count++] = pieces[i].range;
    }
    return 0;
}
