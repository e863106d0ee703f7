// The steps of a search that deal with hits: find them, place them, and at the end say what each one owns.
//
// The order of the whole, and who frees, is told in owners.c. Everything that reads memory of the inspected
// program runs under the guard of memory.c, a body at a time: what faults is stale, and the search goes on.
#define INSPECTOR_INTERNALS
#include "holders.h"

#include <time.h>

#define PROGRESS_EVERY_NS 100000000u

uint64_t search_clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// --- hits and what they are part of ---------------------------------------------------------------

// Between slices of the first search: Ctrl-C ends it, and so does a progress callback that returns False.
static int search_between(uint64_t scanned_bytes, void *argument) {
    search *s = argument;
    uint64_t now = search_clock_ns();
    if (PyErr_CheckSignals() < 0) {
        return -1;
    }
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
    if (wanted == Py_False) {
        PyErr_SetString(PyExc_InterruptedError, "the search was stopped");
        return -1;
    }
    return 0;
}

int search_scan(search *s, scan_range *needles, size_t count, size_t capacity, int first, scan_job *ret) {
    *ret = (scan_job){.needles = needles,
                      .needle_count = count,
                      .runs = &s->runs,
                      .hits = s->hits,
                      .hit_capacity = capacity};
    if (first) {
        ret->between = search_between;
        ret->between_argument = s;
    }
    int status = scan_words(ret);
    s->scanned_bytes += ret->scanned_bytes;
    s->left_out_bytes += ret->vanished_bytes;
    s->scan_ns += ret->scan_ns;
    if (ret->hit_count > ret->hit_capacity) {
        s->truncated += ret->hit_count - ret->hit_capacity;
        ret->hit_count = ret->hit_capacity;
    }
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

int search_targets(search *s, scratch *memory) {
    scan_range *needles = scratch_alloc(memory, s->target_count * sizeof *needles);
    scan_job job;
    if (!needles) {
        return -1;
    }
    for (size_t i = 0; i < s->target_count; i++) {
        needles[i] = (scan_range){(uintptr_t)s->targets[i], (uintptr_t)s->targets[i] + 8};
    }
    if (search_scan(s, needles, s->target_count, s->hit_capacity, 1, &job) < 0) {
        return -1;
    }
    s->hit_count = job.hit_count + s->truncated;
    for (size_t i = 0; i < job.hit_count; i++) {
        place found;
        search_place_guarded(s, s->hits[i].word, &found);
        if (found.object && found.object == s->namespaces) {
            found.kind = PLACE_OURS; // the tuple that the tool passes in
        }
        s->ours += found.kind == PLACE_OURS;
        s->stale += found.kind == PLACE_STALE;
        if (found.kind != PLACE_OURS && found.kind != PLACE_STALE) {
            s->edges[s->edge_count++] = (edge){
                .target = s->hits[i].needle,
                .kind = found.kind,
                .certain = found.certain,
                .resolved = found.kind == PLACE_OBJECT,
                .word = s->hits[i].word,
                .block = found.block,
                .holder = found.object,
                .frame = found.frame,
            };
        }
    }
    return 0;
}

// --- which part, and does it own ------------------------------------------------------------------

static int compare_edges(const void *a, const void *b) {
    const edge *x = a, *y = b;
    if (x->target != y->target) {
        return x->target < y->target ? -1 : 1;
    }
    if (x->holder != y->holder) {
        return (uintptr_t)x->holder < (uintptr_t)y->holder ? -1 : 1;
    }
    return (x->word > y->word) - (x->word < y->word);
}

typedef struct {
    search *s;
    edge *first; // of one target and one holder
    size_t count;
} group_question;

// A holder's edges: the layout names those it can; tp_traverse says how many the rest may be.
static void group_body(void *argument) {
    group_question *q = argument;
    long by_layout = 0, asked = 0, visits = -1;
    for (size_t i = 0; i < q->count; i++) {
        edge *e = &q->first[i];
        slot_verdict verdict = slot_read(&q->s->view, e->holder, e->word, e->link, &e->part);
        e->references = verdict == SLOT_OWNED;
        by_layout += verdict == SLOT_OWNED;
        if (verdict == SLOT_ASK && !e->certain) {
            e->references = 1; // possible: nobody can be asked
        } else if (verdict == SLOT_ASK) {
            if (visits < 0) {
                visits = search_visits(e->holder, q->s->targets[e->target]);
            }
            e->references = by_layout + asked < visits;
            asked += e->references;
        }
    }
    if (visits > by_layout + asked && asked) { // references it reports but that no word showed
        for (size_t i = 0; i < q->count; i++) {
            if (q->first[i].references && q->first[i].certain) {
                q->first[i].references += visits - by_layout - asked;
                return;
            }
        }
    }
}

// Blocks are sorted by address and do not overlap.
block_row *search_block(search *s, uintptr_t address) {
    size_t low = 0, high = s->block_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (address < s->blocks[middle].range.start) {
            high = middle;
        } else if (address >= s->blocks[middle].range.stop) {
            low = middle + 1;
        } else {
            return &s->blocks[middle];
        }
    }
    return NULL;
}

static void resolve_holders(search *s) {
    for (size_t i = 0; i < s->edge_count; i++) {
        edge *e = &s->edges[i];
        const block_row *row = e->kind == PLACE_BLOCK ? search_block(s, e->word) : NULL;
        if (row && row->holder) {
            e->holder = row->holder;
            e->certain = row->certain;
            e->link = row->link;
            e->resolved = 1;
        } else if (row) {
            e->link = row->static_word;
        }
        if (!e->resolved) {
            e->references = !(row && row->is_free);
        }
    }
    qsort(s->edges, s->edge_count, sizeof *s->edges, compare_edges);
    for (size_t i = 0, next; i < s->edge_count; i = next) {
        group_question question = {s, &s->edges[i], 1};
        for (next = i + 1; next < s->edge_count && s->edges[next].holder == s->edges[i].holder &&
                           s->edges[next].target == s->edges[i].target;
             next++) {
            question.count++;
        }
        if (s->edges[i].resolved && memory_guarded(group_body, &question) < 0) {
            for (size_t k = 0; k < question.count; k++) {
                question.first[k].references = 0;
            }
        }
    }
}

// A word in a running frame: a local, a slot of its stack, or a field.
static void resolve_frame(edge *e) {
    static const char *const names[] = {"frame", "local", "stack", "", ""};
    int index;
    frame_part part = frames_part(e->frame, e->word, &index);
    e->part = (slot){names[part], index, NULL};
    e->references = part != FRAME_BORROWED && part != FRAME_DEAD;
    e->certain = part == FRAME_FIELD || part == FRAME_LOCAL || e->frame->top;
    if (part == FRAME_LOCAL) {
        e->part.key = frames_local_name(e->frame->code, index);
    }
}

void search_resolve(search *s) {
    resolve_holders(s);
    for (size_t i = 0; i < s->edge_count; i++) {
        if (s->edges[i].kind == PLACE_FRAME) {
            resolve_frame(&s->edges[i]);
        }
    }
}
