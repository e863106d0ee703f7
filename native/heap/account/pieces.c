// The sums of the account: resident bytes of each piece, by its kind and by the type that claims it.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "heap/account/account.h"

enum { GAP_LEAST = 4096 };

uint64_t account_resident(account *a, uintptr_t start, uintptr_t stop) {
    uint64_t bytes = 0;
    while (a->at_run < a->runs.count && a->runs.rows[a->at_run].stop <= start) {
        a->at_run++;
    }
    for (size_t i = a->at_run; i < a->runs.count && a->runs.rows[i].start < stop; i++) {
        uintptr_t from = a->runs.rows[i].start > start ? a->runs.rows[i].start : start;
        uintptr_t to = a->runs.rows[i].stop < stop ? a->runs.rows[i].stop : stop;
        bytes += to - from;
    }
    return bytes;
}

void account_close_gap(account *a) {
    if (a->open.resident >= GAP_LEAST && a->gaps.count < GAPS_MAX) {
        a->gaps.rows[a->gaps.count++] = a->open;
    }
    a->open = (gap){0, 0, 0};
}

void account_gap(account *a, uintptr_t start, uintptr_t stop) {
    if (a->open.stop != start) {
        account_close_gap(a);
        a->open.start = start;
    }
    a->open.stop = stop;
    a->open.resident += account_resident(a, start, stop);
}

const claim *account_claim(account *a, uintptr_t start, uintptr_t stop) {
    while (a->at_claim < a->claims.count && a->claims.rows[a->at_claim].stop <= start) {
        a->at_claim++;
    }
    const claim *row = &a->claims.rows[a->at_claim];
    return a->at_claim < a->claims.count && row->start < stop ? row : NULL;
}

// Keeps the ACCOUNT_LARGEST objects by one block of theirs, the smallest first.
static void note_large(account *a, PyObject *object, uint64_t bytes) {
    size_t at = 0; // most blocks are smaller than all of them: one comparison
    if (bytes <= a->largest[0].bytes) {
        return;
    }
    for (size_t i = 0; i < ACCOUNT_LARGEST; i++) {
        if (a->largest[i].object == object) {
            return; // of an object in pieces the first one counts
        }
    }
    for (; at < ACCOUNT_LARGEST && a->largest[at].bytes < bytes; at++) {
        if (at) {
            a->largest[at - 1] = a->largest[at];
        }
    }
    if (at) {
        a->largest[at - 1] = (large_object){object, bytes};
    }
}

void account_add(account *a, uintptr_t start, uintptr_t stop, piece_kind kind, const claim *by) {
    uint64_t bytes = account_resident(a, start, stop);
    a->bytes[kind] += bytes;
    if (by) {
        note_large(a, by->object, bytes);
        tally_row *row = tally_find(&a->large[by->kind], Py_TYPE(by->object));
        a->failed |= !row;
        if (row) {
            row->objects++;
            row->bytes += (Py_ssize_t)bytes;
        }
    }
}
