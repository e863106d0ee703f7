// The last step of a search: which part of its holder is each edge, and does that part own a reference?
//
// Layouts say so word by word (search/slots.c); where they do not, tp_traverse of the holder says how many
// there are. Everything is read under the guard of memory/memory.c, a group of one holder and one target at a
// time: what faults holds nothing.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "memory/addresses.h"
#include "search/holders.h"

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

typedef struct {
    PyObject *target;            // borrowed
    long by_layout, asked, most; // most: what tp_traverse tells; -1: not asked yet
    enum { BY_LAYOUT, IN_OBJECT, IN_BLOCKS } round;
} group_count;

// One word of an edge: the references it is.
static long count_word(search *s, edge *e, uintptr_t word, slot *ret, group_count *counted) {
    slot_verdict verdict = slot_read(&s->view, e->holder, word, e->link, ret);
    if (verdict == SLOT_OWNED && counted->round == BY_LAYOUT) {
        counted->by_layout++;
        return 1;
    }
    if ((verdict != SLOT_ASK && verdict != SLOT_STATE) ||
        counted->round != (e->link ? IN_BLOCKS : IN_OBJECT)) {
        return 0;
    }
    if (e->certain && counted->most < 0) {
        counted->most = search_visits(e->holder, counted->target);
    }
    if (e->certain && counted->by_layout + counted->asked < counted->most) {
        counted->asked++;
        return 1;
    }
    if (verdict == SLOT_STATE) {
        e->certain = 0; // a module that does not tell the collector of its state
    }
    return !e->certain; // possible: nobody can be asked
}

// An edge that stands for many words of a block is asked word by word; its part is that of the first.
static UNSANITIZED void count_edge(search *s, edge *e, group_count *counted) {
    slot part;
    for (uintptr_t word = e->word; word <= e->last; word += sizeof(word)) {
        if (e->last != e->word && *(const uintptr_t *)word - (uintptr_t)counted->target >= 8) {
            continue;
        }
        long references = count_word(s, e, word, &part, counted);
        if ((word == e->word && counted->round == BY_LAYOUT) || (references && !e->references)) {
            e->part = part;
        }
        e->references += references;
    }
    if (e->instances && e->references) {
        e->references = (long)e->words;
    }
}

// A holder's edges: the layout names those it can; tp_traverse says how many the rest may be, and of those a
// word of the object itself comes before one in a block that it points to, which may be left over.
static void group_body(void *argument) {
    group_question *q = argument;
    group_count counted = {.target = q->s->targets[q->first->target], .most = -1};
    for (size_t i = 0; i < q->count; i++) {
        q->first[i].references = 0;
    }
    for (counted.round = BY_LAYOUT; counted.round <= IN_BLOCKS; counted.round++) {
        for (size_t i = 0; i < q->count; i++) {
            count_edge(q->s, &q->first[i], &counted);
        }
    }
    // References that it reports but that no word showed.
    for (size_t i = 0; i < q->count && counted.asked; i++) {
        if (q->first[i].references && q->first[i].certain) {
            long more = counted.most - counted.by_layout - counted.asked;
            q->first[i].references += more > 0 ? more : 0;
            return;
        }
    }
}

block_row *search_block(search *s, uintptr_t address) {
    ptrdiff_t at = addresses_find(s->blocks, s->block_count, sizeof *s->blocks, address);
    return at < 0 ? NULL : &s->blocks[at];
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
            e->references = row && row->holds_nothing ? 0 : (long)e->words;
        }
    }
    addresses_sort(s->edges, s->edge_count, sizeof *s->edges, compare_edges);
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
