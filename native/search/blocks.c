// Whose block is it? A hit in memory that is no object itself (items of a list, keys of a dict, values of an
// instance, a C struct) belongs to the object that points to the block.
//
// All such blocks are looked for in one search of memory. A pointer into a block comes from its owner, from
// other blocks (a linked list, a deque, a table of structs), or from anywhere by chance: the owner is the
// object whose layout says that this very field owns that very word, else one whose tp_traverse visits the
// target. Blocks that only other blocks point to are looked for once more, through those.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "memory/addresses.h"
#include "search/holders.h"

#define BLOCK_NEEDLE_BYTES 4096u

enum { RANK_NONE, RANK_PERHAPS, RANK_TRAVERSE, RANK_LAYOUT };

// The tables of dicts that the caller names need no search.
static void know_namespaces(search *s) {
    for (Py_ssize_t i = 0; s->namespaces && i < PyTuple_GET_SIZE(s->namespaces); i++) {
        PyObject *dict = PyTuple_GET_ITEM(s->namespaces, i); // borrowed
        PyDictObject *table = (PyDictObject *)dict;
        block_row *row = PyDict_CheckExact(dict) ? search_block(s, (uintptr_t)table->ma_keys) : NULL;
        if (row && !table->ma_values) {
            row->holder = dict;
            row->link = (uintptr_t)&table->ma_keys;
            row->rank = RANK_LAYOUT;
            row->certain = 1;
        }
    }
}

static void collect_blocks(search *s) {
    for (size_t i = 0; i < s->edge_count; i++) {
        const edge *e = &s->edges[i];
        if (e->kind == PLACE_BLOCK) {
            s->blocks[s->block_count++] =
                (block_row){.range = e->block, .target = e->target, .word = e->word};
        }
    }
    addresses_sort(s->blocks, s->block_count, sizeof *s->blocks, addresses_compare);
    size_t kept = 0;
    for (size_t i = 0; i < s->block_count; i++) {
        if (!kept || s->blocks[kept - 1].range.start != s->blocks[i].range.start) {
            s->blocks[kept++] = s->blocks[i];
        }
    }
    s->block_count = kept;
}

typedef struct {
    search *s;
    block_row *row; // borrowed
    place found;
    uintptr_t link;
    int rank, keeps_nothing;
    int owned; // the holder uses that word: it is not left over behind what it uses
} link_question;

// Types that keep memory of their own in which no reference lies. What is not among them may have the address
// as a number (the hash in a set, the next of itertools.count), or look at memory of others (a memoryview).
static int keeps_plain_memory(PyTypeObject *type) { return strncmp(type->tp_name, "_io.", 4) == 0; }

// How much of such an object points to memory of its own; behind that is text, or what was there before.
static UNSANITIZED size_t kept_bytes(const place *found) {
    PyObject *holder = found->object; // borrowed
    PyTypeObject *type = Py_TYPE(holder);
    if (found->kind != PLACE_STALE) {
        int keeps = found->certain && (PyType_Check(holder) || keeps_plain_memory(type));
        return keeps ? (size_t)type->tp_basicsize : 0;
    }
    if (type == &PyUnicode_Type) {
        const PyASCIIObject *text = (const PyASCIIObject *)holder;
        return !text->state.compact ? sizeof(PyUnicodeObject)
               : text->state.ascii  ? sizeof(PyASCIIObject)
                                    : sizeof(PyCompactUnicodeObject);
    }
    return type == &PyByteArray_Type ? sizeof(PyByteArrayObject) : 0;
}

// The block is kept by the object that the word is in, and its type is known to hold nothing that way: the
// text of a bytearray, the name of a class, the buffer of a file.
static UNSANITIZED int keeps_no_reference(const link_question *q) {
    uintptr_t prefix = q->s->view.object_prefix > 0 ? (uintptr_t)q->s->view.object_prefix : 0;
    uintptr_t offset = q->link ? *(const uintptr_t *)q->link - q->row->range.start : 0;
    if (!q->found.object || !q->link || (offset && offset != prefix && offset != 2 * prefix)) {
        return 0;
    }
    return q->link < (uintptr_t)q->found.object + kept_bytes(&q->found);
}

// How good an explanation is it that `found` holds the block?
static void link_body(void *argument) {
    link_question *q = argument;
    slot part;
    PyObject *target = q->s->targets[q->row->target]; // borrowed
    if (q->found.kind == PLACE_STALE) {
        q->keeps_nothing = keeps_no_reference(q);
        return;
    }
    slot_verdict verdict = slot_read(&q->s->view, q->found.object, q->row->word, q->link, &part);
    if (verdict == SLOT_OWNED || verdict == SLOT_UNUSED) {
        // A layout speaks of the block that the field points to. What that block points to in turn is no part
        // of the object: an address among the numbers of an array, or left over behind a list's length.
        q->keeps_nothing = q->row->is_parent;
        if (q->keeps_nothing) {
            return;
        }
        q->rank = q->found.certain ? RANK_LAYOUT : RANK_PERHAPS;
        q->owned = q->found.certain && verdict == SLOT_OWNED;
    } else if (verdict == SLOT_STATE || (verdict == SLOT_ASK && q->found.certain)) {
        int told = q->found.certain && search_visits(q->found.object, target) > 0;
        q->rank = told ? RANK_TRAVERSE : verdict == SLOT_STATE ? RANK_PERHAPS : RANK_NONE;
        q->owned = told;
    } else {
        q->rank = verdict == SLOT_ASK ? RANK_PERHAPS : RANK_NONE;
    }
    q->keeps_nothing = q->rank == RANK_NONE && q->link && keeps_no_reference(q);
}

// In a brief search: marks the targets that something else than a block still to be looked for has named
// already: a frame or a namespace; where the count of their references is known, as many owners as that.
static void mark_named(search *s, uint8_t *named, Py_ssize_t *found) {
    for (size_t i = 0; i < s->edge_count; i++) {
        const edge *e = &s->edges[i];
        const block_row *row = e->kind == PLACE_BLOCK ? search_block(s, e->word) : NULL;
        int is_space = row && row->holder;
        block_row word = {.target = e->target, .word = e->word};
        link_question question = {.s = s, .row = &word, .link = is_space ? row->link : 0};
        question.found = (place){.kind = PLACE_OBJECT,
                                 .object = is_space ? row->holder : e->holder,
                                 .certain = is_space ? row->certain : e->certain};
        int asked = is_space || (e->resolved && s->boxes);
        int holds = asked && memory_guarded(link_body, &question) == 0 && question.owned;
        found[e->target] += e->kind == PLACE_FRAME || holds;
    }
    for (size_t i = 0; i < s->target_count; i++) {
        named[i] = found[i] >= (s->boxes ? search_references(s, i) : 1);
    }
}

static void block_settle(block_row *row) {
    row->holds_nothing = 1;
    row->rank = RANK_LAYOUT;
}

// Of explanations that are equally good the one of the lowest address stays, in whatever order they come.
static void block_link(search *s, block_row *row, uintptr_t word) {
    link_question question = {.s = s, .row = row, .link = word};
    if (word >= row->range.start && word < row->range.stop) {
        return; // a block that points to itself
    }
    search_place_guarded(s, word, &question.found);
    if (word >= s->view.free_lists.start && word < s->view.free_lists.stop) {
        if (!compat_is_behind_reuse(PyInterpreterState_Get(), word)) {
            block_settle(row);
        }
    } else if (question.found.kind == PLACE_STATIC) {
        row->static_word = row->static_word && row->static_word < word ? row->static_word : word;
    } else if (question.found.kind == PLACE_BLOCK) {
        uintptr_t start = question.found.block.start;
        row->parent = row->parent.start && row->parent.start < start ? row->parent : question.found.block;
    } else if (question.found.object && question.found.kind != PLACE_OURS &&
               memory_guarded(link_body, &question) == 0) {
        if (question.keeps_nothing) {
            block_settle(row);
        } else if (question.rank > row->rank || (question.rank == row->rank && row->link > word)) {
            row->rank = question.rank;
            row->holder = question.found.object;
            row->certain = question.found.certain;
            row->link = word;
            row->owned = question.owned && question.rank == RANK_LAYOUT;
        }
    }
}

// In a brief search one block that names its target is enough: the others are not looked for any longer.
static void close_others(search *s, const block_row *named) {
    for (size_t i = 0; i < s->block_count; i++) {
        block_row *row = &s->blocks[i];
        if (row->target == named->target && row->rank < RANK_LAYOUT) {
            row->rank = RANK_LAYOUT;
            s->blocks_open -= s->blocks_open > 0;
        }
    }
}

static int take_blocks(search *s, const scan_hit *hits, size_t count) {
    for (size_t i = 0; i < count; i++) {
        block_row *row = search_block(s, hits[i].value);
        if (row && row->rank < RANK_LAYOUT) {
            block_link(s, row, hits[i].word);
            s->blocks_open -= row->rank == RANK_LAYOUT;
            if (s->brief && !s->is_trial && row->owned) {
                close_others(s, row);
            }
        }
    }
    return !s->blocks_open; // a layout settles whose block it is: no need to read on
}

// What lies near the blocks, or near what they hold, is read first, whatever it is. Then: whose a block is is
// most often said by a list or a dict, or by a plain instance, so their pools come before the rest: of these
// the instance first in a search for a name, which asks for containers, as they are attributes. A layout
// settles it, and what is left of memory need not be read.
#define NEAR_PIECES_MAX 32u
enum { CONTAINER_BYTES = 64, INSTANCE_BYTES = 48 };
static const uint32_t likely_sizes[2][2] = {{CONTAINER_BYTES, INSTANCE_BYTES},
                                            {INSTANCE_BYTES, CONTAINER_BYTES}};

static scan_runs runs_part(const scan_runs *runs, size_t first, size_t stop) {
    first = first < runs->count ? first : runs->count;
    stop = stop < runs->count ? stop : runs->count;
    return (scan_runs){.rows = runs->rows + first, .count = stop - first};
}

// The runs around blocks and targets, and the others behind them.
static int part_nearest(search *s, const scan_range *needles, size_t count, scan_runs *ret_near,
                        scan_runs *ret_left, scratch *memory) {
    scan_runs order;
    size_t centers = count + s->target_count, most = 2 * centers;
    scan_range *around = scratch_alloc(memory, centers * sizeof *around);
    if (!around) {
        return -1;
    }
    memcpy(around, needles, count * sizeof *around);
    memcpy(around + count, s->needles, s->target_count * sizeof *around);
    addresses_sort(around, centers, sizeof *around, addresses_compare);
    most = most < NEAR_PIECES_MAX ? most : NEAR_PIECES_MAX;
    if (nearest_first(&s->runs, around, centers, most, &order, memory) < 0) {
        return -1;
    }
    *ret_near = runs_part(&order, 0, most);
    *ret_left = runs_part(&order, most, SIZE_MAX);
    return 0;
}

static int search_in_stages(search *s, scan_range *needles, size_t count, scratch *memory) {
    scan_runs near, left, likely, rest;
    if (!count) {
        return 0;
    }
    if (part_nearest(s, needles, count, &near, &left, memory) < 0 ||
        search_scan(s, &near, needles, count, take_blocks) < 0) {
        return -1;
    }
    for (size_t i = 0; i < 2; i++) {
        if (!s->blocks_open || s->near_only) {
            return 0;
        }
        if (pymalloc_split(&left, likely_sizes[s->brief != 0][i], &likely, &rest, memory)) {
            break; // search what is left as it stands
        }
        if (search_scan(s, &likely, needles, count, take_blocks) < 0) {
            return -1;
        }
        left = rest;
    }
    return s->blocks_open ? search_scan(s, &left, needles, count, take_blocks) : 0;
}

static int search_blocks(search *s, scratch *memory) {
    scan_range *needles = scratch_alloc(memory, s->block_count * sizeof *needles);
    uint8_t *named = scratch_alloc(memory, s->target_count);
    Py_ssize_t *found = scratch_alloc(memory, s->target_count * sizeof *found);
    size_t count = 0;
    if (!needles || !named || !found) {
        return -1;
    }
    if (s->brief) {
        mark_named(s, named, found);
    }
    for (size_t i = 0; i < s->block_count; i++) {
        scan_range range = s->blocks[i].range;
        uintptr_t stop = range.start + BLOCK_NEEDLE_BYTES;
        if (!s->blocks[i].holder && !named[s->blocks[i].target]) {
            needles[count++] = (scan_range){range.start, stop < range.stop ? stop : range.stop};
        }
    }
    s->blocks_open = count;
    return search_in_stages(s, needles, count, memory);
}

// Blocks that no object points to: once more, for the blocks that point to them.
static int search_parents(search *s, scratch *memory) {
    size_t orphans = 0;
    block_row *children = s->blocks;
    size_t child_count = s->block_count;
    s->blocks = scratch_alloc(memory, child_count * sizeof *s->blocks);
    if (!s->blocks) {
        return -1;
    }
    for (size_t i = 0; i < child_count; i++) {
        block_row *child = &children[i];
        if (child->holder || !child->parent.start) {
            continue;
        }
        s->blocks[orphans++] =
            (block_row){.range = child->parent, .target = child->target, .word = child->word, .is_parent = 1};
    }
    addresses_sort(s->blocks, orphans, sizeof *s->blocks, addresses_compare);
    s->block_count = 0;
    for (size_t i = 0; i < orphans; i++) {
        if (!s->block_count || s->blocks[s->block_count - 1].range.stop <= s->blocks[i].range.start) {
            s->blocks[s->block_count++] = s->blocks[i];
        }
    }
    int status = orphans ? search_blocks(s, memory) : 0;
    for (size_t i = 0; i < child_count && status == 0; i++) {
        const block_row *parent = children[i].holder ? NULL : search_block(s, children[i].parent.start);
        if (parent) {
            children[i].holder = parent->holder;
            children[i].certain = parent->certain;
            children[i].link = parent->link;
            children[i].static_word = children[i].static_word ? children[i].static_word : parent->static_word;
        }
    }
    s->blocks = children;
    s->block_count = child_count;
    return status;
}

int blocks_search(search *s, scratch *memory) {
    collect_blocks(s);
    know_namespaces(s);
    if (search_blocks(s, memory) < 0) {
        return -1;
    }
    if (s->brief) {
        return 0;
    }
    deques_search(s);
    return search_parents(s, memory);
}
