// What is known of calls that repeat: their shape, and the sum of those that have no record of their own.
//
// A shape is what a report says of a call but values, addresses, times and sizes: a word for each record,
// and one for its blocks: which of them lie in which, and which objects are the same.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_REPEATED_H
#define INSPECTOR_REPEATED_H

#include "trace/record/event.h"

enum { SHAPE_BLOCKS_MAX = 24 };

static inline uint64_t shape_mixed(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    return hash ^ hash >> 32;
}

static inline uint64_t shape_pair(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

// Words at once: their products do not wait for each other.
static inline uint64_t shape_words(uint64_t one, uint64_t two, uint64_t three, uint64_t four) {
    uint64_t sum = (one ^ one >> 27) * 0xD6E8FEB86659FD93ULL + (two ^ two >> 29) * 0xA0761D6478BD642FULL +
                   (three ^ three >> 31) * 0xE7037ED1A0B428DBULL +
                   (four ^ four >> 33) * 0x8EBC6AF09C88C6E3ULL;
    return sum ^ sum >> 32;
}

// The record of a call itself. Of an allocation lasti and refs are an old address, aux is the caller.
static inline uint64_t shape_of_head(const event *record, uint64_t kinds) {
    uint64_t who = shape_pair(record->slot, record->type);
    uint64_t place = shape_pair(record->code, (uint32_t)record->lasti);
    uint64_t values = record->flags & EVENT_FLAG_COMPACT ? (uint16_t)record->refs_delta : 0;
    if (__builtin_expect(record->kind == EVENT_ALLOCATION, 0)) {
        return shape_words(kinds, who, record->refs || record->lasti, record->aux);
    }
    return shape_words(kinds, who, place, values);
}

static inline uint64_t shape_of_continuation(const event *record, uint64_t kinds) {
    uint64_t who = shape_pair(record->slot, record->type), words;
    words = shape_pair((uint32_t)record->refs, (uint32_t)record->lasti);
    switch (record->kind) {
    case EVENT_SPAN:
        return shape_words(kinds, who, words, shape_pair(record->code, record->aux != 0));
    case EVENT_VALUE: // of a list its first item's type, and whether it is a shape
        return shape_words(kinds, who, (uint32_t)record->lasti,
                           record->func == 'L' ? record->val << 1 | record->start : 0);
    case EVENT_LOSS:
        return shape_words(kinds, who, words, record->aux << 32 ^ record->duration);
    case EVENT_PLAIN:
    case EVENT_BUFFER:
        return shape_words(kinds, who, words, 0);
    case EVENT_STACK:
    case EVENT_BYTES:
        return shape_words(kinds, who, record->val, 0);
    default:
        return shape_words(kinds, who, 0, 0);
    }
}

static inline uint64_t shape_of(const event *record) {
    uint16_t kept = (uint16_t)~(EVENT_FLAG_REPEATED | EVENT_FLAG_COARSE);
    uint64_t kinds = (uint64_t)record->func | (uint64_t)(record->flags & kept) << 16 |
                     (uint64_t)record->kind << 32 | (uint64_t)record->depth << 40;
    return record->flags & EVENT_FLAG_CONTINUATION ? shape_of_continuation(record, kinds)
                                                   : shape_of_head(record, kinds);
}

typedef struct {
    uint64_t object, start, stop;
} shape_block;

// The blocks of a call, in the order of its records.
typedef struct {
    uint64_t hash, sizes;
    uint32_t count, results;
    shape_block blocks[SHAPE_BLOCKS_MAX];
} shape_blocks;

static inline void shape_clear(shape_blocks *to) {
    to->hash = to->sizes = 0;
    to->count = to->results = 0;
}

// Sizes of results count where there are several: a sum tells those of one.
static inline uint64_t shape_of_blocks(const shape_blocks *of) {
    return of->results > 1 ? shape_mixed(of->hash, of->sizes) : of->hash;
}

// Adds a block beside those before it: which is the first that it meets, and the first of its object.
static inline void shape_add_block(shape_blocks *to, uint64_t object, uint64_t start, uint64_t stop) {
    uint32_t meets = 0, same = 0, at = to->count;
    while (meets < at && !(to->blocks[meets].start < stop && start < to->blocks[meets].stop)) {
        meets++;
    }
    while (same < at && !(object && to->blocks[same].object == object)) {
        same++;
    }
    to->hash = shape_mixed(to->hash, shape_pair(meets, same));
    to->blocks[to->count++] = (shape_block){object, start, stop};
}

// Adds what a record says of a block.
static inline void shape_add(shape_blocks *to, const event *record) {
    if (to->count == SHAPE_BLOCKS_MAX) {
        return;
    }
    if (record->kind == EVENT_SPAN) {
        shape_add_block(to, record->obj, record->val, record->val + record->aux);
        if (record->flags & EVENT_FLAG_OUTPUT) {
            to->results++;
            to->sizes = shape_mixed(shape_mixed(to->sizes, record->start), record->aux);
        }
    } else if (record->kind == EVENT_ALLOCATION) {
        shape_add_block(to, 0, record->obj, record->obj + record->val);
    }
}

// ----- sums -----------------------------------------------------------------------------------------

enum { SUM_TICKS_SHIFT = 10 };
enum { SUM_APART = EVENT_FLAG_ERROR | EVENT_FLAG_CONTINUATION | EVENT_FLAG_ENTRY | EVENT_FLAG_DEEP };

// What the record of a call tells beyond itself. Without `times` the rest is not set.
typedef struct {
    uint64_t times, ticks, bytes, extent, last;
    uint16_t results;
} sum;

static inline uint64_t sum_ticks(const event *record) {
    return (uint64_t)record->duration << (record->flags & EVENT_FLAG_COARSE ? SUM_TICKS_SHIFT : 0);
}

static inline sum sum_read(const event *record) {
    return (sum){.times = record->val,
                 .ticks = record->aux,
                 .bytes = record->obj,
                 .extent = (uint64_t)(uint32_t)record->refs << 32 | (uint32_t)record->lasti,
                 .last = record->start,
                 .results = record->func};
}

static inline event sum_as_record(const sum *of, uint8_t depth) {
    return (event){.kind = EVENT_SUM,
                   .flags = EVENT_FLAG_CONTINUATION,
                   .depth = depth,
                   .val = of->times,
                   .aux = of->ticks,
                   .obj = of->bytes,
                   .lasti = (int32_t)(of->extent & UINT32_MAX),
                   .refs = (int32_t)(of->extent >> 32),
                   .start = of->last,
                   .func = of->results};
}

static inline void sum_add(sum *all, const sum *known, int is_gil) {
    all->times += known->times;
    all->ticks += known->ticks;
    all->bytes += is_gil ? 0 : known->bytes;
    all->extent += known->extent;
    all->last = known->last > all->last ? known->last : all->last;
}

// Whether a record of the C API tells its sum by itself; then it does.
static inline int sum_told_by_itself(event *record, const sum *of) {
    uint64_t more = of->times + (record->flags & EVENT_FLAG_REPEATED ? (uint64_t)record->refs : 0);
    if (record->kind != EVENT_CAPI || record->flags & SUM_APART || more > INT32_MAX) {
        return 0;
    }
    uint64_t ticks = sum_ticks(record) + of->ticks;
    record->refs = (int32_t)more;
    record->flags = (uint16_t)((record->flags & ~EVENT_FLAG_COARSE) | EVENT_FLAG_REPEATED);
    if (ticks > UINT32_MAX) {
        ticks >>= SUM_TICKS_SHIFT;
        record->flags |= EVENT_FLAG_COARSE;
    }
    record->duration = ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
    return 1;
}

#endif
