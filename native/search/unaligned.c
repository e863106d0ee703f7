// Where else the object's address stands: at the seven places of each word where no pointer is aligned.
//
// A C struct with __attribute__((packed)) and a NumPy record without padding keep pointers there. The search
// of memory/scan.c compares aligned words; this one is asked only where references are left that it did not
// find. One reading of memory compares all seven places, and the exact address: low bits are no tags here.
// What is found is never certain. Frames and C stacks keep no packed fields; text and numbers hold nothing;
// the inline caches of bytecode (3.11 on) stand at any even address and only borrow.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "machine/machine.h"
#include "search/holders.h"

#define SLICE_BYTES ((uintptr_t)1 << 20)
#define STEP_BYTES 32u
#define PAGE_BYTES ((uintptr_t)4096)

typedef struct {
    search *s;
    uintptr_t at, stop; // the place asked next is at + 1; all bytes read lie below stop
    uint64_t value;
    size_t count; // of s->hits
} sweep;

static __attribute__((no_sanitize("address", "alignment"))) void collect_places(sweep *w, uintptr_t stop) {
    for (uintptr_t at = w->at; at < stop; at++) {
        if (at % 8 && *(const volatile uint64_t *)at == w->value && w->count < SCAN_SLICE_WORDS) {
            w->s->hits[w->count++] = (scan_hit){at, w->value, 0};
        }
    }
}

#if MACHINE_AVX2
static __attribute__((target("avx2"))) void sweep_avx2(sweep *w) {
    const __m256i value = _mm256_set1_epi64x((long long)w->value);
    for (; w->at + STEP_BYTES + 8 <= w->stop; w->at += STEP_BYTES) {
        _mm_prefetch((const char *)w->at + 1024, _MM_HINT_NTA);
        __m256i found = _mm256_setzero_si256();
#pragma GCC unroll 7
        for (int k = 1; k < 8; k++) {
            __m256i words = _mm256_loadu_si256((const void *)(w->at + k));
            found = _mm256_or_si256(found, _mm256_cmpeq_epi64(words, value));
        }
        if (__builtin_expect(!_mm256_testz_si256(found, found), 0)) {
            collect_places(w, w->at + STEP_BYTES);
        }
    }
}
#endif

static void sweep_body(void *argument) {
    sweep *w = argument;
#if MACHINE_AVX2
    if (machine_has_avx2()) {
        sweep_avx2(w);
    }
#endif
    collect_places(w, w->stop - 7);
}

static int may_hold(const place *found) {
    if (found->kind == PLACE_OBJECT) {
        return !PyCode_Check(found->object);
    }
    return found->kind == PLACE_BLOCK || found->kind == PLACE_STATIC || found->kind == PLACE_MAPPING ||
           found->kind == PLACE_UNKNOWN;
}

static void take_place(search *s, uintptr_t word) {
    place found;
    search_place_hit(s, word & ~(uintptr_t)7, &found);
    s->hit_count++;
    s->ours += found.kind == PLACE_OURS;
    if (found.kind == PLACE_OURS || !may_hold(&found)) {
        s->stale += found.kind != PLACE_OURS;
        return;
    }
    if (s->edge_count == s->edge_capacity) {
        s->truncated++;
        return;
    }
    edge *e = &s->edges[s->edge_count++];
    *e = (edge){.kind = found.kind, .word = word, .last = word, .words = 1, .references = 1};
    e->block = found.block;
    e->holder = found.object;
    e->resolved = found.kind == PLACE_OBJECT;
    if (e->holder) {
        e->part = (slot){"field", (int64_t)(word - (uintptr_t)e->holder), NULL};
    }
}

// Whole, or page by page where a part is gone: a fault takes back the hits of what was being read.
static void sweep_slice(sweep *w, scan_range slice, uintptr_t step) {
    for (uintptr_t at = slice.start; at + 8 < slice.stop; at += step - 8) {
        size_t before = w->count;
        w->at = at;
        w->stop = at + step < slice.stop ? at + step : slice.stop;
        uintptr_t stop = w->stop;
        if (memory_guarded(sweep_body, w) < 0) {
            w->count = before;
            if (step > PAGE_BYTES) {
                sweep_slice(w, (scan_range){at, stop}, PAGE_BYTES);
            }
        }
    }
}

static int sweep_run(sweep *w, scan_range run) {
    search *s = w->s;
    for (uintptr_t at = (run.start + 7) & ~(uintptr_t)7; at + 8 < run.stop; at += SLICE_BYTES - 8) {
        uintptr_t stop = at + SLICE_BYTES < run.stop ? at + SLICE_BYTES : run.stop;
        uint64_t start = clock_now_ns();
        w->count = 0;
        sweep_slice(w, (scan_range){at, stop}, SLICE_BYTES);
        s->scan_ns += clock_now_ns() - start;
        for (size_t k = 0; k < w->count; k++) {
            take_place(s, s->hits[k].word);
        }
        if (interrupt_ask(&s->watch) || search_tell(s, s->scanned_bytes + (stop - run.start)) < 0) {
            return -1;
        }
    }
    s->scanned_bytes += run.stop - run.start;
    return 0;
}

static void place_body(void *argument) {
    sweep *w = argument;
    collect_places(w, w->at + 1);
}

// After Python code ran: is the address still there, and in what?
static int take_again(sweep *w, scratch *memory) {
    search *s = w->s;
    size_t count = s->edge_count;
    if (search_forget(s, memory) < 0) {
        return -1;
    }
    s->edge_count = s->hit_count = s->ours = s->stale = 0;
    for (size_t i = 0; i < count; i++) {
        w->at = s->edges[i].word; // an edge taken again stands here or before
        w->count = 0;
        if (memory_guarded(place_body, w) == 0 && w->count) {
            take_place(s, s->hits[0].word);
        }
    }
    return 0;
}

int unaligned_search(search *s, scratch *memory) {
    sweep w = {.s = s, .value = (uintptr_t)s->targets[0]};
    for (size_t i = 0; i < s->runs.count; i++) {
        if (sweep_run(&w, s->runs.rows[i]) < 0) {
            return -1;
        }
    }
    return s->progress_ran ? take_again(&w, memory) : 0;
}
