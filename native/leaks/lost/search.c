// Who holds the objects that no walk from the roots met: one search of memory, and more for the blocks found.
//
// The rule is that of leaks/raw_memory/search.c, for objects: what lies in static data, on a stack, in a
// frame or in memory of unknown use keeps an object; what lies in freed memory does not. A word in another
// lost object, or in a block, keeps its target only if it is kept itself: the next round asks for blocks.
//
// Words that own nothing are left out: links of the collector's lists (a needle begins at the object), weak
// references, old items behind the end of a list, a binding's table of instances (registered.c); and for an
// object whose whole count lost objects tell of, all words outside them. Every other word that may be a
// pointer counts.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/lost/lost.h"
#include "memory/addresses.h"

static int is_reached(const lost_walk *w, uintptr_t at) {
    const lost_block *block = lost_block_at(w, at);
    return block ? block->is_alive : marks_has(&w->alive, (void *)at);
}

// A node or a block is held from outside: follow() goes on from there.
static void reach(lost_walk *w, uintptr_t at) {
    lost_block *block = lost_block_at(w, at);
    int fresh = block ? !block->is_alive : marks_add(&w->alive, (void *)at);
    if (block) {
        block->is_alive = 1;
    }
    w->failed |= fresh < 0;
    if (fresh == 1) {
        w->waiting[w->waiting_count++] = at;
    }
}

static void add_edge(lost_walk *w, uintptr_t from, uintptr_t to, uintptr_t word) {
    if (w->edge_count == LOST_EDGES_MAX) {
        reach(w, to);
        return;
    }
    w->edges[w->edge_count++] = (lost_edge){from, to, word};
}

static void add_block(lost_walk *w, scan_range range, uintptr_t to, uintptr_t word) {
    int is_known = lost_block_at(w, range.start) != NULL;
    for (size_t i = w->block_count; !is_known && i > w->sorted_blocks; i--) { // hits come by address
        is_known = w->blocks[i - 1].start == range.start;
        if (w->blocks[i - 1].start < range.start) {
            break;
        }
    }
    if (!is_known && w->block_count == LOST_BLOCKS_MAX) {
        reach(w, to);
        return;
    }
    if (!is_known) {
        w->blocks[w->block_count++] = (lost_block){.start = range.start, .stop = range.stop};
    }
    add_edge(w, range.start, to, word);
}

// --- words that own nothing ---

// The fields of a weak reference but its callback; the list of weak references of an object.
static int is_weak(PyObject *holder, uintptr_t word) {
    PyTypeObject *type = Py_TYPE(holder);
    Py_ssize_t offset = (Py_ssize_t)(word - (uintptr_t)holder);
    int is_link = PyWeakref_Check(holder) && offset >= (Py_ssize_t)offsetof(PyWeakReference, wr_object) &&
                  offset < (Py_ssize_t)sizeof(PyWeakReference) &&
                  offset != (Py_ssize_t)offsetof(PyWeakReference, wr_callback);
    return is_link || (type->tp_weaklistoffset && offset == type->tp_weaklistoffset);
}

// Behind the struct: the block may be larger, and holds what was there before.
static int is_slack(PyObject *holder, uintptr_t word) {
    PyTypeObject *type = Py_TYPE(holder);
    int is_whole =
        !type->tp_itemsize && !(COMPAT_VALUES_INLINE && PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT));
    return is_whole && word >= (uintptr_t)holder + (uintptr_t)type->tp_basicsize;
}

typedef struct {
    const search_view *view;
    PyObject *holder, *target; // borrowed
    uintptr_t word, link;
    int owns;
} owner_question;

static void owner_body(void *argument) {
    owner_question *q = argument;
    slot part;
    slot_verdict verdict = slot_read(q->view, q->holder, q->word, q->link, &part);
    q->owns = verdict != SLOT_BORROWED && verdict != SLOT_UNUSED &&
              (q->link || (!is_weak(q->holder, q->word) && !is_slack(q->holder, q->word)));
}

// Whether a word of an object, or of the block that its word `link` points to, may own the target.
static int may_own(const lost_walk *w, PyObject *holder, uintptr_t word, uintptr_t link) {
    owner_question q = {.view = &w->h.s.view, .holder = holder, .word = word, .link = link};
    return memory_guarded(owner_body, &q) == 0 && q.owns;
}

static size_t first_edge(const lost_walk *w, uintptr_t from) {
    return addresses_below(w->edges, w->sorted_edges, sizeof *w->edges, from);
}

// What a block holds is held, where a live object points to the block: its layout says which words it uses.
static void reach_through(lost_walk *w, PyObject *holder, uintptr_t link, uintptr_t block) {
    for (size_t i = first_edge(w, block); i < w->sorted_edges && w->edges[i].from == block; i++) {
        lost_edge edge = w->edges[i];
        if (lost_block_at(w, edge.to) || may_own(w, holder, edge.word, link)) {
            reach(w, edge.to);
        }
    }
}

static int visit_alive(PyObject *object, void *argument) {
    lost_walk *w = argument;
    if (!marks_has(&w->alive, object) && lost_node_at(w, object)) {
        reach(w, (uintptr_t)object);
    }
    return 0;
}

static void follow_edges(lost_walk *w, uintptr_t from) {
    int is_block = lost_block_at(w, from) != NULL;
    for (size_t i = first_edge(w, from); i < w->sorted_edges && w->edges[i].from == from; i++) {
        if (!is_block && lost_block_at(w, w->edges[i].to)) {
            reach_through(w, (PyObject *)from, w->edges[i].word, w->edges[i].to);
        } else {
            reach(w, w->edges[i].to);
        }
    }
}

static int by_origin(const void *a, const void *b) {
    const lost_edge *x = a, *y = b;
    return x->from == y->from ? (x->to > y->to) - (x->to < y->to) : x->from < y->from ? -1 : 1;
}

// A later round may find more in a block that a live object points to.
static void reach_through_again(lost_walk *w) {
    for (size_t i = 0; i < w->sorted_blocks; i++) {
        lost_block block = w->blocks[i];
        if (block.holder) {
            reach_through(w, block.holder, block.link, block.start);
        }
    }
}

static void follow(lost_walk *w) {
    addresses_sort(w->edges, w->edge_count, sizeof *w->edges, by_origin);
    w->sorted_edges = w->edge_count;
    reach_through_again(w);
    while (w->waiting_count && !w->failed) {
        uintptr_t at = w->waiting[--w->waiting_count];
        if (!lost_block_at(w, at)) {
            lost_visit(w, lost_node_at(w, (void *)at), visit_alive, w);
        }
        follow_edges(w, at);
    }
}

// --- hits ---

// A word outside the lost objects, to one whose count they explain or to the data of one.
static int owns_nothing(const lost_walk *w, const place *found, uintptr_t to) {
    const lost_node *node = lost_node_at(w, (void *)to);
    int is_lost =
        found->kind == PLACE_OBJECT && lost_node_at(w, found->object) && !marks_has(&w->alive, found->object);
    return !is_lost && (node ? node->left <= 0 : marks_has(&w->owned, (void *)to));
}

static void take_object(lost_walk *w, const place *found, uintptr_t to, uintptr_t word) {
    PyObject *holder = found->object;
    lost_block *block = lost_block_at(w, to);
    if (!block && !may_own(w, holder, word, 0)) {
        return;
    }
    if (lost_node_at(w, holder) && !marks_has(&w->alive, holder)) {
        add_edge(w, (uintptr_t)holder, to, word);
    } else if (!marks_has(&w->alive, holder) && found->block.start) {
        add_block(w, found->block, to, word); // no walk met it: as good as a C struct
    } else if (block) {
        block->holder = holder;
        block->link = word;
    } else {
        reach(w, to);
    }
}

// An object that the collector does not track looks like a block; a walk may have met it.
static PyObject *known_in(const lost_walk *w, scan_range block) {
    static const uintptr_t headers[] = {OWN_GC_HEADER, OWN_NO_HEADER, OWN_DICT_HEADER};
    long prefix = w->h.s.view.object_prefix;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        PyObject *object = (PyObject *)(block.start + headers[i] + (uintptr_t)(prefix > 0 ? prefix : 0));
        int is_inside = (uintptr_t)(object + 1) <= block.stop;
        if (is_inside && (marks_has(&w->alive, object) || lost_node_at(w, object))) {
            return object;
        }
    }
    return NULL;
}

static int is_of_allocator(const lost_walk *w, uintptr_t word) {
    uintptr_t arena = w->h.s.view.malloc.main_arena;
    return arena && word - arena < MALLOC_ARENA_BYTES;
}

static void take_hit(lost_walk *w, const scan_hit *hit) {
    place found;
    scan_range needle = w->h.needles[hit->needle];
    int is_inside = hit->word >= needle.start && hit->word < needle.stop;
    if (is_inside || is_reached(w, needle.start) || is_of_allocator(w, hit->word)) {
        return;
    }
    search_place_guarded(&w->h.s, hit->word, &found);
    PyObject *known = found.kind == PLACE_BLOCK ? known_in(w, found.block) : NULL; // borrowed
    if (known) {
        found.kind = PLACE_OBJECT;
        found.object = known;
    }
    int is_nobodys =
        found.kind == PLACE_STALE || owns_nothing(w, &found, needle.start) ||
        lost_is_registered(w, &found, hit->word) ||
        (found.kind == PLACE_STACK && addresses_in(w->evaluators, w->evaluator_count, hit->word)) ||
        (found.kind != PLACE_OURS && !raw_memory_is_kept_by(&w->h.s.view, &found, hit->word));
    if (is_nobodys) {
        return;
    }
    if (found.kind == PLACE_OBJECT) {
        take_object(w, &found, needle.start, hit->word);
    } else if (found.kind == PLACE_BLOCK && found.block.start != needle.start) {
        add_block(w, found.block, needle.start, hit->word);
    } else if (found.kind != PLACE_BLOCK) {
        reach(w, needle.start);
    }
}

static int take_hits(search *s, const scan_hit *hits, size_t count) {
    lost_walk *w = (lost_walk *)s;
    for (size_t i = 0; i < count && !w->failed; i++) {
        take_hit(w, &hits[i]);
    }
    return w->failed ? error_no_memory() : 0;
}

int lost_scan(lost_walk *w, size_t count, search_take take) {
    int status = search_scan(&w->h.s, &w->h.s.runs, w->h.needles, count, take);
    if (status < 0 && !PyErr_Occurred()) {
        interrupt_raise(&w->h.s.watch);
    }
    return status;
}

// --- rounds ---

static void sort_blocks(lost_walk *w) {
    size_t kept = 0;
    addresses_sort(w->blocks, w->block_count, sizeof *w->blocks, addresses_compare);
    for (size_t i = 0; i < w->block_count; i++) {
        if (!kept || w->blocks[kept - 1].start != w->blocks[i].start) {
            w->blocks[kept++] = w->blocks[i];
        }
    }
    w->block_count = w->sorted_blocks = kept;
}

static int has_lost_target(const lost_walk *w, uintptr_t block) {
    for (size_t i = first_edge(w, block); i < w->sorted_edges && w->edges[i].from == block; i++) {
        if (!is_reached(w, w->edges[i].to)) {
            return 1;
        }
    }
    return 0;
}

// The blocks to search for next: those that hold what is still lost.
static size_t needles_of_blocks(lost_walk *w) {
    size_t count = 0;
    for (size_t i = 0; i < w->block_count; i++) {
        lost_block *block = &w->blocks[i];
        if (!block->is_searched && !block->is_alive && has_lost_target(w, block->start)) {
            block->is_searched = 1;
            w->h.needles[count++] = (scan_range){block->start, block->stop};
        }
    }
    return count;
}

static size_t needles_of_nodes(lost_walk *w) {
    for (size_t i = 0; i < w->node_count; i++) {
        w->h.needles[i] = (scan_range){w->nodes[i].start, w->nodes[i].stop};
    }
    return w->node_count;
}

static int allocate(lost_walk *w, scratch *memory) {
    size_t most = w->node_count + LOST_BLOCKS_MAX;
    w->blocks = scratch_alloc(memory, LOST_BLOCKS_MAX * sizeof *w->blocks);
    w->edges = scratch_alloc(memory, LOST_EDGES_MAX * sizeof *w->edges);
    w->waiting = scratch_alloc(memory, most * sizeof *w->waiting);
    w->h.needles = scratch_alloc(memory, most * sizeof *w->h.needles);
    return w->blocks && w->edges && w->waiting && w->h.needles ? 0 : error_no_memory();
}

// What a table has is held by it where not all references have another word.
static void reach_registered(lost_walk *w) {
    lost_count_hidden(w);
    for (size_t i = 0; i < w->node_count; i++) {
        const lost_node *node = &w->nodes[i];
        if (node->is_registered && node->left > node->hidden) {
            reach(w, node->start);
        }
    }
    follow(w);
}

int lost_search(lost_walk *w, scratch *memory) {
    if (allocate(w, memory) < 0) {
        return -1;
    }
    size_t count = needles_of_nodes(w);
    for (int round = 0; count && round < LOST_ROUNDS; round++) {
        if (lost_scan(w, count, take_hits) < 0) {
            return -1;
        }
        sort_blocks(w);
        follow(w);
        count = needles_of_blocks(w);
    }
    for (size_t i = 0; i < count; i++) { // no end was found: held, as far as was looked
        reach(w, w->h.needles[i].start);
    }
    follow(w);
    reach_registered(w);
    return w->failed ? error_no_memory() : 0;
}

// --- what the search found, told ---

// The words of a block that hold the node are the object's whose word points to the block.
static int tell_block(lost_walk *w, const lost_edge *inside, const lost_node *node, lost_tell tell,
                      void *argument) {
    int is_owned = 0;
    for (size_t i = 0; i < w->edge_count; i++) {
        const lost_edge *edge = &w->edges[i];
        PyObject *holder = (PyObject *)edge->from; // borrowed
        if (edge->to != inside->from || !lost_node_at(w, holder)) {
            continue;
        }
        is_owned = 1;
        if (!lost_is_told(holder, node->object) && may_own(w, holder, inside->word, edge->word) &&
            tell(holder, (int64_t)(inside->word - inside->from), (int64_t)(edge->word - edge->from),
                 argument) < 0) {
            return -1;
        }
    }
    return is_owned ? 0 : tell(NULL, (int64_t)(inside->word - inside->from), -1, argument);
}

int lost_hidden_holders(lost_walk *w, const lost_node *node, lost_tell tell, void *argument) {
    for (size_t i = 0; i < w->edge_count; i++) {
        const lost_edge *edge = &w->edges[i];
        if (edge->to != node->start) {
            continue;
        }
        PyObject *holder = (PyObject *)edge->from; // borrowed
        int status = 0;
        if (lost_block_at(w, edge->from)) {
            status = tell_block(w, edge, node, tell, argument);
        } else if (!lost_is_told(holder, node->object)) {
            status = tell(holder, (int64_t)(edge->word - edge->from), -1, argument);
        }
        if (status < 0) {
            return -1;
        }
    }
    return 0;
}
