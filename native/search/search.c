// The steps of a search that deal with hits: find them, and say what each is part of.
//
// The order of the whole, and who frees, is told in owners.c. Everything that reads memory of the inspected
// program runs under the guard of memory/memory.c, a body at a time: what faults is stale, and the search
// goes on.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "search/holders.h"

#define PROGRESS_EVERY_NS 100000000u
#define SLOTS_KEPT 4u // edges of one target in one block; the last of them stands for the rest
#define LOOK_BACK (SLOTS_KEPT * 32u)

Py_ssize_t search_references(const search *s, size_t target) {
    return Py_REFCNT(s->targets[target]) - s->boxes[target];
}

// Between slices: Ctrl-C ends a search.
static int search_may_go_on(search *s) { return interrupt_ask(&s->watch) ? -1 : 0; }

// In the first search, every 0.1 s: a progress callback that returns False ends it. It is Python code: what
// was placed so far may be gone after it (search_refresh).
int search_tell(search *s, uint64_t scanned_bytes) {
    uint64_t now = clock_now_ns();
    if (!s->progress || now - s->progress_ns < PROGRESS_EVERY_NS) {
        return 0;
    }
    s->progress_ns = now;
    s->progress_ran = 1;
    _owned_ PyObject *wanted = PyObject_CallFunction(s->progress, "KK", (unsigned long long)scanned_bytes,
                                                     (unsigned long long)s->runs.bytes);
    if (!wanted) {
        return -1;
    }
    return wanted == Py_False ? error_set(PyExc_InterruptedError, "the search was stopped") : 0;
}

static int take_targets(search *s, const scan_hit *hits, size_t count);

typedef struct {
    search *s;
    search_take collect;
    int tells;
} taker;

static int search_take_slice(scan_job *job, void *argument) {
    taker *t = argument;
    if (search_may_go_on(t->s) < 0 || (t->tells && search_tell(t->s, job->scanned_bytes) < 0)) {
        return -1;
    }
    return job->hit_count ? t->collect(t->s, t->s->hits, job->hit_count) : 0;
}

int search_scan(search *s, const scan_runs *runs, scan_range *needles, size_t count, search_take take) {
    taker t = {s, take, take == take_targets};
    scan_job job = {.needles = needles,
                    .needle_count = count,
                    .runs = runs,
                    .hits = s->hits,
                    .hit_capacity = SCAN_SLICE_WORDS,
                    .collect = search_take_slice,
                    .argument = &t};
    int status = scan_words(&job);
    s->scanned_bytes += job.scanned_bytes;
    s->left_out_bytes += job.vanished_bytes;
    s->scan_ns += job.scan_ns;
    return status;
}

typedef struct {
    search *s;
    uintptr_t word;
    place *ret;
} place_question;

static void place_body(void *argument) {
    place_question *question = argument;
    search_place(&question->s->view, question->word, question->ret);
}

void search_place_guarded(search *s, uintptr_t word, place *ret) {
    place_question question = {s, word, ret};
    if (memory_guarded(place_body, &question) < 0) {
        *ret = (place){.kind = PLACE_STALE}; // gone between search and look
    }
}

// An instance holds its type in the same word of each: a class with a million instances is one edge.
static edge *edge_of_instances(search *s, const scan_hit *hit, const place *found) {
    size_t *first = &s->instances[2 * hit->needle + (found->certain != 0)]; // index + 1; 0: none yet
    if (found->kind != PLACE_OBJECT || hit->word != (uintptr_t)&found->object->ob_type) {
        return NULL;
    }
    if (!*first) {
        *first = s->edge_count + 1;
        return NULL;
    }
    return &s->edges[*first - 1];
}

// Words of one block come one after the other: what has SLOTS_KEPT edges for a target already lengthens
// the last of them.
static edge *edge_of_block(search *s, const scan_hit *hit, const place *found) {
    size_t kept = 0, least = s->edge_count > LOOK_BACK ? s->edge_count - LOOK_BACK : 0;
    edge *last = NULL;
    for (size_t i = s->edge_count; found->block.start && i > least; i--) {
        edge *e = &s->edges[i - 1];
        if (e->block.start != found->block.start) {
            break;
        }
        if (e->target == hit->needle && e->kind == found->kind && !e->instances) {
            last = last ? last : e;
            kept++;
        }
    }
    if (kept < SLOTS_KEPT ||
        (s->boxes && last->last / NEAREST_PIECE_BYTES != hit->word / NEAREST_PIECE_BYTES)) {
        return NULL; // a brief search reads pieces out of order: what stands for many words ends with its
                     // piece
    }
    return last;
}

static void add_edge(search *s, const scan_hit *hit, const place *found) {
    edge *instances = edge_of_instances(s, hit, found);
    edge *same = instances ? instances : edge_of_block(s, hit, found);
    if (same) {
        same->words++;
        same->last = instances ? same->last : hit->word;
        return;
    }
    if (s->edge_count == s->edge_capacity) {
        s->truncated++;
        return;
    }
    int of_type = s->instances[2 * hit->needle + (found->certain != 0)] == s->edge_count + 1;
    s->edges[s->edge_count++] = (edge){
        .target = hit->needle,
        .kind = found->kind,
        .certain = found->certain,
        .resolved = found->kind == PLACE_OBJECT,
        .instances = of_type,
        .word = hit->word,
        .last = hit->word,
        .words = 1,
        .block = found->block,
        .holder = found->object,
        .frame = found->frame,
    };
}

// All words of a block that an allocator knows are part of the same thing.
void search_place_hit(search *s, uintptr_t word, place *found) {
    if (word >= s->last_place.block.start && word < s->last_place.block.stop) {
        *found = s->last_place;
        return;
    }
    search_place_guarded(s, word, found);
    if (found->object && found->object == s->namespaces) {
        found->kind = PLACE_OURS; // the tuple that the tool passes in
    }
    s->last_place = found->kind == PLACE_MAPPING ? (place){.kind = PLACE_UNKNOWN} : *found;
}

// Freed memory drops out here, slice by slice: however often it still names a target, it takes no room.
static int take_targets(search *s, const scan_hit *hits, size_t count) {
    s->hit_count += count;
    for (size_t i = 0; i < count; i++) {
        place found;
        search_place_hit(s, hits[i].word, &found);
        s->ours += found.kind == PLACE_OURS;
        s->stale += found.kind == PLACE_STALE;
        if (found.kind != PLACE_OURS && found.kind != PLACE_STALE) {
            add_edge(s, &hits[i], &found);
        }
    }
    return 0;
}

int search_needles(search *s, scratch *memory) {
    s->needles = scratch_alloc(memory, s->target_count * sizeof *s->needles);
    s->instances = scratch_alloc(memory, 2 * s->target_count * sizeof *s->instances);
    for (size_t i = 0; s->needles && i < s->target_count; i++) {
        s->needles[i] = (scan_range){(uintptr_t)s->targets[i], (uintptr_t)s->targets[i] + 8};
    }
    return s->needles && s->instances ? 0 : -1;
}

int search_targets(search *s, const scan_runs *runs) {
    return search_scan(s, runs, s->needles, s->target_count, take_targets);
}

typedef struct {
    uintptr_t word, value;
} word_question;

static UNSANITIZED void word_body(void *argument) {
    word_question *question = argument;
    question->value = *(const uintptr_t *)question->word;
}

int search_forget(search *s, scratch *memory) {
    if (frames_init(&s->view.frames, memory, s->own_prefix) < 0) {
        return -1;
    }
    s->view.malloc.last_start = 0;
    s->last_place = (place){.kind = PLACE_UNKNOWN};
    return 0;
}

// After Python code ran: frames, and what each word is part of, are asked anew.
int search_refresh(search *s, scratch *memory) {
    size_t kept = 0;
    if (search_forget(s, memory) < 0) {
        return -1;
    }
    for (size_t i = 0; i < s->edge_count; i++) {
        edge e = s->edges[i];
        word_question question = {.word = e.word};
        place found;
        if (memory_guarded(word_body, &question) < 0 ||
            question.value - (uintptr_t)s->targets[e.target] >= 8) {
            continue;
        }
        search_place_guarded(s, e.word, &found);
        if (found.kind != PLACE_OURS && found.kind != PLACE_STALE) {
            e.kind = found.kind;
            e.certain = found.certain;
            e.resolved = found.kind == PLACE_OBJECT;
            e.block = found.block;
            e.holder = found.object;
            e.frame = found.frame;
            s->edges[kept++] = e;
        }
    }
    s->edge_count = kept;
    return 0;
}
