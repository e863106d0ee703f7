// Folds records of calls that stand side by side (trace/record/folding.h).
//
// Overview. Only a run of calls of one depth is folded, from its second record on: records one deeper that
// stand before its first are that one's children. A record with a continuation, of a call that failed, or of
// grade deep stays, and so ends the run.
// SPDX-License-Identifier: MIT
#include "trace/record/folding.h"

enum { KEYS_MAX = 16, LEAST_RUN = 512, TICKS_SHIFT = 10 };
enum { STAYS = EVENT_FLAG_ERROR | EVENT_FLAG_CONTINUATION | EVENT_FLAG_ENTRY | EVENT_FLAG_DEEP };

static int is_foldable(const event *record, uint8_t depth) {
    return record->kind == EVENT_CAPI && record->depth == depth && !(record->flags & STAYS);
}

static int is_same(const event *one, const event *other) {
    uint16_t kept = (uint16_t)~(EVENT_FLAG_REPEATED | EVENT_FLAG_COARSE);
    return one->func == other->func && one->slot == other->slot &&
           (one->flags & kept) == (other->flags & kept);
}

static uint64_t ticks_of(const event *record) {
    return (uint64_t)record->duration << (record->flags & EVENT_FLAG_COARSE ? TICKS_SHIFT : 0);
}

// Adds one record to another of the same function. Returns 0 where there is no room for the count.
static int add(event *to, const event *from) {
    uint64_t ticks = ticks_of(to) + ticks_of(from);
    int64_t more = (int64_t)to->refs + from->refs + 1;
    if (more > INT32_MAX) {
        return 0;
    }
    to->refs = (int32_t)more;
    to->flags = (uint16_t)((to->flags & ~EVENT_FLAG_COARSE) | EVENT_FLAG_REPEATED);
    if (ticks > UINT32_MAX) {
        ticks >>= TICKS_SHIFT;
        to->flags |= EVENT_FLAG_COARSE;
    }
    to->duration = ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
    return 1;
}

typedef struct {
    event *records;
    uint64_t mask;
} room;

static event *at(room in, uint64_t index) { return in.records + (index & in.mask); }

static uint64_t run_start(room in, uint64_t from, uint64_t last) {
    uint64_t start = last;
    while (start > from && is_foldable(at(in, start - 1), at(in, last - 1)->depth)) {
        start--;
    }
    return start;
}

// Moves the run [start, stop) together. Returns where it ends then.
static uint64_t fold_run(room in, uint64_t start, uint64_t stop) {
    uint64_t end = start;
    for (uint64_t index = start; index < stop; index++) {
        const event *record = at(in, index);
        uint64_t known = end > start + KEYS_MAX ? end - KEYS_MAX : start;
        while (known < end && !is_same(at(in, known), record)) {
            known++;
        }
        if (known == end || !add(at(in, known), record)) {
            *at(in, end++) = *record;
        }
    }
    return end;
}

uint64_t folding_fold(event *records, uint64_t mask, uint64_t from, uint64_t head) {
    room in = {records, mask};
    if (head < from + LEAST_RUN || at(in, head - 1)->flags & EVENT_FLAG_CONTINUATION) {
        return head;
    }
    uint64_t last = head - 1, start = run_start(in, from, last) + 1;
    if (last < start + LEAST_RUN) {
        return head;
    }
    uint64_t end = fold_run(in, start, last);
    *at(in, end) = *at(in, last);
    return end + 1;
}
