// Adds up the records of calls that repeat (trace/record/folding.h).
//
// Overview. Records are read in order of time; as a call is written when it returns, a record takes the
// deeper ones before it for its children. What is complete is compared with the calls beside it, by a hash of
// all that a report says of it but values, addresses, times and sizes: function, line, types, kinds, what the
// samples showed, and which blocks lie in which. An equal one is added to the first and takes no room.
//
// Left out. A call whose children may lie before the records that are looked at, and the last one, stay
// (`fixed`). Of calls with bytes inside an open call the last NEAR stay: the open call may give their bytes
// on. A mark or a switch of greenlets parts what stands before it from what follows (BARRIER).
//
// Foretold. The records of a loop come in the same order again: behind a call the one that followed it last
// time is expected, and where its words are found they are added without more ado.
//
// Nothing is copied until all is added up: the ring's own records are referred to by their number.
//
// Limits. An equal hash is taken for equality: 64 bits, of at most FOLDING_MOST calls.
// SPDX-License-Identifier: MIT
#include "trace/record/folding.h"
#include "trace/record/repeated.h"

#include <string.h>

enum { BACK = 16, NEAR = 8, PLACES_MAX = 256 };
enum { BARRIER = UINT8_MAX + 1 };

typedef struct {
    uint64_t hash, blocks; // of all its records; of its blocks alone
    uint32_t start, own;   // its first record, and its own one behind its children's
    uint32_t next;         // number of the call that came after it last time
    uint16_t depth;
    uint8_t fixed, has_bytes;
} call;

static struct {
    uint32_t numbers[FOLDING_MOST]; // of records that stay, from the first one on
    uint64_t shapes[FOLDING_MOST];
    sum sums[FOLDING_MOST];
    call calls[FOLDING_MOST]; // that wait for what encloses them
    event kept[FOLDING_MOST];
    uint32_t count, depth; // of numbers, of calls
    uint32_t total;        // of records
    uint32_t
        latest[BARRIER]; // by depth: number of the call that came last, or of the one that it was added to
    uint32_t parted;     // calls before this one stand before a barrier
    int is_open;         // the newest call is not complete
    uint64_t gil_given;  // ticks when the GIL was released last
    uint32_t running;    // a thread uses this memory
    folding_ring in;
    uint64_t from;
} work;

static inline event *record_of(uint32_t number) {
    return &work.in.records[(work.from + number) & work.in.mask];
}

static inline event *record_at(uint32_t at) { return record_of(work.numbers[at]); }

static inline int is_head(const event *record) { return !(record->flags & EVENT_FLAG_CONTINUATION); }

// ----- adding ---------------------------------------------------------------------------------------

// How long the GIL was released: until it is asked for.
static void add_gil(sum *all, const event *head, const sum *known) {
    uint64_t spent = head->func == 1 && work.gil_given ? head->start - work.gil_given : 0;
    uint64_t longest = known && known->bytes > spent ? known->bytes : spent;
    work.gil_given = head->func == 0 ? head->start : work.gil_given;
    all->ticks += spent;
    all->bytes = longest > all->bytes ? longest : all->bytes;
}

static inline void add_results(sum *all, uint32_t number) {
    uint16_t results = 0;
    for (const event *record; number < work.total && !is_head(record = record_of(number)); number++) {
        if (record->kind == EVENT_SPAN && record->flags & EVENT_FLAG_OUTPUT) {
            results++;
            all->bytes += record->start;
            all->extent += record->aux;
        }
    }
    all->results = results;
}

// Adds a call's own record, and what else is known of it, to the one at `to`.
static inline void add_record(uint32_t to, uint32_t number, const sum *known /* or NULL */) {
    sum *all = &work.sums[to];
    const event *head = record_of(number);
    if (!all->times) {
        *all = (sum){.times = 0};
    }
    all->times += 1 + (head->flags & EVENT_FLAG_REPEATED ? (uint64_t)head->refs : 0);
    all->ticks += sum_ticks(head);
    all->last = head->start > all->last ? head->start : all->last;
    if (known) {
        sum_add(all, known, head->kind == EVENT_GIL);
    }
    if (__builtin_expect(head->kind == EVENT_GIL, 0)) {
        add_gil(all, head, known);
    } else {
        add_results(all, number + 1);
    }
}

// Adds a call, with all that is inside it, to one of the same shape.
static void add_call(uint32_t to, uint32_t from, uint32_t stop) {
    for (uint32_t at = from; at < stop; at++) {
        if (is_head(record_at(at))) {
            add_record(to + at - from, work.numbers[at], work.sums[at].times ? &work.sums[at] : NULL);
        }
    }
}

// ----- calls beside each other ----------------------------------------------------------------------

static uint32_t stop_of(uint32_t number) {
    return number + 1 < work.depth ? work.calls[number + 1].start : work.count;
}

// The first call beside number `of` with the same shape; `of` itself where there is none.
static uint32_t alike(uint32_t of) {
    const call *one = &work.calls[of];
    uint32_t room = stop_of(of) - one->start, found = of;
    uint32_t last = of > BACK + NEAR ? of - (BACK + NEAR) : 0;
    for (uint32_t at = of; at > last && work.calls[at - 1].depth == one->depth;) {
        const call *other = &work.calls[--at];
        if (other->hash == one->hash && !other->fixed && stop_of(at) - other->start == room) {
            found = at;
        }
    }
    return found;
}

static void remove_call(uint32_t number) {
    uint32_t start = work.calls[number].start, stop = stop_of(number), gone = stop - start;
    memmove(&work.numbers[start], &work.numbers[stop], (work.count - stop) * sizeof *work.numbers);
    memmove(&work.shapes[start], &work.shapes[stop], (work.count - stop) * sizeof *work.shapes);
    memmove(&work.sums[start], &work.sums[stop], (work.count - stop) * sizeof *work.sums);
    memmove(&work.calls[number], &work.calls[number + 1], (work.depth - number - 1) * sizeof *work.calls);
    work.depth--;
    work.count -= gone;
    for (uint32_t at = number; at < work.depth; at++) {
        work.calls[at].start -= gone;
        work.calls[at].own -= gone;
    }
}

// Which call is compared now. Of calls with bytes the last NEAR wait while what encloses them is open.
static uint32_t compared(const call *newest) {
    uint32_t last = work.depth - 1;
    if (!newest->depth || !newest->has_bytes) {
        return last;
    }
    int are_beside = last >= NEAR && work.calls[last - NEAR].depth == newest->depth;
    return are_beside ? last - NEAR : UINT32_MAX;
}

static void came(uint32_t number) {
    uint16_t depth = work.calls[number].depth;
    uint32_t before = work.latest[depth];
    if (before < work.depth && work.calls[before].depth == depth) {
        work.calls[before].next = number;
    }
    work.latest[depth] = number;
}

// Hashes the newest call.
static void hash_call(call *newest) {
    shape_blocks blocks;
    shape_clear(&blocks);
    for (uint32_t at = newest->has_bytes ? newest->start : newest->own; at < work.count; at++) {
        shape_add(&blocks, record_at(at));
    }
    for (uint32_t at = newest->own; at < work.count; at++) {
        newest->hash = shape_mixed(newest->hash, work.shapes[at]);
    }
    newest->blocks = shape_of_blocks(&blocks);
    newest->hash = shape_mixed(newest->hash, newest->blocks);
    newest->has_bytes = blocks.count > 0;
    newest->fixed |= blocks.count == SHAPE_BLOCKS_MAX;
}

// The newest call is complete.
static void close_call(void) {
    call *newest = &work.calls[work.depth - 1];
    if (!work.is_open || newest->depth == BARRIER) {
        return;
    }
    work.is_open = 0;
    hash_call(newest);
    newest->fixed |= work.depth == 1 || newest[-1].depth == BARRIER;
    uint32_t at = compared(newest);
    uint32_t first = at == UINT32_MAX || work.calls[at].fixed ? at : alike(at);
    if (first != at) {
        add_call(work.calls[first].start, work.calls[at].start, stop_of(at));
        remove_call(at);
    }
    came(first != at && at == work.depth ? first : work.depth - 1);
}

// The call that is expected, where the last ones were complete; NULL: none.
static const call *expected(void) {
    uint16_t depth = work.depth ? work.calls[work.depth - 1].depth : BARRIER;
    uint32_t before = depth == BARRIER ? UINT32_MAX : work.latest[depth];
    uint32_t number = before < work.depth ? work.calls[before].next : UINT32_MAX;
    if (number >= work.depth || number < work.parted) {
        return NULL;
    }
    const call *one = &work.calls[number];
    int waits = one->depth && one->has_bytes;
    return one->fixed || waits || one->depth != depth ? NULL : one;
}

// Where the next record of a call belongs among the records that stay, `at` being expected; or UINT32_MAX. A
// conversion may come again that one call made twice.
static inline uint32_t place_of(const event *record, uint32_t at, uint32_t start) {
    uint64_t sought = shape_of(record);
    if (__builtin_expect(sought == work.shapes[at], 1)) {
        return at;
    }
    uint32_t last = at > start + BACK ? at - BACK : start;
    while (at > last && record_at(at - 1)->kind == EVENT_CAPI && record_at(at - 1)->depth == record->depth) {
        if (work.shapes[--at] == sought) {
            return at;
        }
    }
    return UINT32_MAX;
}

// The places of the records of a call like `one`, from `number` on. Returns how many; 0 where they are
// others.
static uint32_t places_of(const call *one, uint32_t stop, uint32_t number, uint32_t *ret) {
    uint32_t count = 0, at = one->start;
    shape_blocks blocks;
    shape_clear(&blocks);
    while (at < stop && count < PLACES_MAX && number + count + 1 < work.total) {
        const event *record = record_of(number + count);
        uint32_t place = place_of(record, at, one->start);
        if (place == UINT32_MAX) {
            return 0;
        }
        if (one->has_bytes) {
            shape_add(&blocks, record);
        }
        at += place == at;
        ret[count++] = place;
    }
    int is_whole = at == stop && is_head(record_of(number + count));
    return is_whole && (!one->has_bytes || shape_of_blocks(&blocks) == one->blocks) ? count : 0;
}

// Adds the records from `number` on to the call that is expected. Returns how many; 0 where they are others.
static uint32_t add_expected(uint32_t number) {
    const call *one = expected();
    if (!one) {
        return 0;
    }
    uint32_t places[PLACES_MAX], which = (uint32_t)(one - work.calls);
    uint32_t count = places_of(one, stop_of(which), number, places);
    for (uint32_t at = 0; at < count; at++) {
        if (is_head(record_of(number + at))) {
            add_record(places[at], number + at, NULL);
        }
    }
    if (count) {
        came(which);
    }
    return count;
}

// A record that begins a call: what is deeper and stands before it is inside.
static void open_call(const event *record) {
    int is_barrier = record->kind == EVENT_MARK || record->kind == EVENT_GREENLET;
    call made = {.start = work.count,
                 .own = work.count,
                 .next = UINT32_MAX,
                 .depth = is_barrier ? BARRIER : record->depth,
                 .fixed = (uint8_t)is_barrier};
    uint32_t inside = work.depth;
    while (!is_barrier && !(record->flags & EVENT_FLAG_ENTRY) && inside &&
           work.calls[inside - 1].depth != BARRIER && work.calls[inside - 1].depth > record->depth) {
        inside--;
    }
    for (uint32_t at = inside; at < work.depth; at++) {
        made.hash = shape_mixed(made.hash, work.calls[at].hash);
        made.fixed |= work.calls[at].fixed;
        made.has_bytes |= work.calls[at].has_bytes;
    }
    made.start = inside < work.depth ? work.calls[inside].start : made.start;
    work.depth = inside;
    work.calls[work.depth++] = made;
    work.parted = is_barrier ? work.depth : work.parted;
    work.is_open = 1;
}

static void keep_record(uint32_t number, const event *record) {
    work.numbers[work.count] = number;
    work.shapes[work.count] = shape_of(record);
    work.sums[work.count++].times = 0;
}

// Takes the records from `number` on. Returns how many.
static uint32_t take(uint32_t number) {
    const event *record = record_of(number);
    if (record->kind == EVENT_SUM) {
        work.sums[work.calls[work.depth - 1].own] = sum_read(record);
        return 1;
    }
    if (is_head(record)) {
        close_call();
        uint32_t added = add_expected(number);
        if (added) {
            return added;
        }
        open_call(record);
        if (record->kind == EVENT_GIL && record->func == 0) {
            work.gil_given = record->start;
        }
    }
    keep_record(number, record);
    return 1;
}

// ----- writing --------------------------------------------------------------------------------------

// Copies what stays; a sum stands behind the call's other records. Returns how many there are.
static uint32_t keep(void) {
    uint32_t kept = 0;
    const sum *of = NULL;
    uint8_t depth = 0;
    for (uint32_t at = 0; at < work.count; at++) {
        const event *record = record_at(at);
        if (is_head(record)) {
            if (of) {
                work.kept[kept++] = sum_as_record(of, depth);
            }
            of = work.sums[at].times ? &work.sums[at] : NULL;
            depth = record->depth;
        }
        work.kept[kept] = *record;
        of = is_head(record) && of && sum_told_by_itself(&work.kept[kept], of) ? NULL : of;
        kept++;
    }
    if (of) {
        work.kept[kept++] = sum_as_record(of, depth);
    }
    return kept;
}

uint32_t folding_fold(folding_ring in, uint64_t from, uint64_t head, uint32_t *ret_last) {
    if (__atomic_exchange_n(&work.running, 1, __ATOMIC_ACQUIRE)) {
        return 0;
    }
    work.in = in;
    work.from = from;
    work.count = work.depth = 0;
    work.gil_given = work.parted = 0;
    work.is_open = 0;
    memset(work.latest, UINT8_MAX, sizeof work.latest);
    work.total = (uint32_t)(head - from);
    for (uint32_t number = 0; number < work.total;) {
        number += take(number);
    }
    uint32_t own = work.calls[work.depth - 1].own, told = work.sums[own].times != 0;
    *ret_last = work.count - own + told;
    return keep();
}

void folding_write(folding_ring in, uint64_t from, uint32_t count) {
    for (uint32_t at = 0; at < count; at++) {
        in.records[(from + at) & in.mask] = work.kept[at];
    }
    __atomic_store_n(&work.running, 0, __ATOMIC_RELEASE);
}

void folding_forked(void) { work.running = 0; }
