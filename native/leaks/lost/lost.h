// Objects that no root reaches: alive.c marks the others, lost.c says why, search.c asks memory for owners.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LOST_H
#define INSPECTOR_LOST_H

#include "leaks/raw_memory/search_parts.h"
#include "memory/marks.h"
#include "objects/objects.h"

enum { LOST_BLOCKS_MAX = 1 << 16, LOST_EDGES_MAX = 1 << 19, LOST_ROUNDS = 8, LOST_EVALUATORS_MAX = 64 };
typedef enum { LOST_UNKNOWN, LOST_GARBAGE, LOST_KEPT } lost_state; // kept: no collection frees it

// An object that no walk from the roots met.
typedef struct {
    uintptr_t start, stop; // its struct
    PyObject *object;      // borrowed
    Py_ssize_t left;       // references that no lost object tells of
    Py_ssize_t hidden;     // of a registered one: words in lost memory that may be its owners, untold
    int is_registered;     // a table of a binding has its address
    lost_state state;
    int is_certain; // the collector knows it, or what refers to it; else memory looks like one
} lost_node;

// A live block that is no object and holds the address of a node or of another such block.
typedef struct {
    uintptr_t start, stop;
    int is_alive, is_searched;
    int is_told, is_own; // a tracked object points to it; an untracked one does
    PyObject *holder;    // borrowed: a live object whose word `link` points to it, or NULL
    uintptr_t link;
} lost_block;

// An object or a block holds the address of a node or a block: both by where they start.
typedef struct {
    uintptr_t from, to, word;
} lost_edge;

typedef struct {
    leak_search h; // first: search_scan() passes it back
    marks alive;   // objects that a root reaches
    marks known;   // types whose instances are looked for
    marks met;     // by one walk of cycle.c
    marks owned;   // data of arrays that are nodes: freed with them, whoever else has the address
    arena_stack open, types;
    arena_stack numbers; // arrays of floats, alive and large: their data holds no address
    lost_node *nodes;    // borrowed: in the scratch, by address
    lost_block *blocks;  // borrowed: in the scratch, by address but for the newest
    lost_edge *edges;    // borrowed: in the scratch, by origin but for the newest
    uintptr_t *waiting;  // borrowed: in the scratch; reached and not followed yet
    size_t node_count, block_count, sorted_blocks, edge_count, sorted_edges, waiting_count;
    scan_range evaluators[LOST_EVALUATORS_MAX]; // innermost first
    size_t evaluator_count;
    interrupt_watch watch;
    int failed;
} lost_walk;

lost_node *lost_node_at(const lost_walk *w, const void *object); // the node that begins there, or NULL
lost_block *lost_block_at(const lost_walk *w, uintptr_t start);  // the same of blocks
// What a node refers to, as far as objects/edges.c knows; nothing where its memory only looked like an
// object.
void lost_visit(lost_walk *w, const lost_node *node, visitproc visit, void *argument);
// alive.c: marks what the roots and `args` reach. 0, or -1 without an exception.
int lost_mark_alive(lost_walk *w, PyObject *args /* borrowed */);
// The ranges that are not searched, with the data of large arrays of floats: new list, alive itself.
PyObject *lost_ranges_left_out(lost_walk *w, PyObject *leave_out /* borrowed */); // new
// evaluator.c: the C frames of the evaluator on this thread's stack, whose words hold nothing.
void lost_find_evaluators(lost_walk *w);
// Searches memory for the first `count` needles of `h`. 0, or -1 with an exception set.
int lost_scan(lost_walk *w, size_t count, search_take take);
// `left` of the nodes, and `owned`, are set. Asks memory who holds the nodes, and marks in `alive` what is
// held from outside. Needs the armed guard. 0, or -1 with an exception set.
int lost_search(lost_walk *w, scratch *memory);
// nodes.c: whether tp_traverse of the holder visits the target.
int lost_is_told(PyObject *holder /* borrowed */, PyObject *target /* borrowed */);
// registered.c: whether a word is in a binding's table of instances, which are marked. Then, the edges being
// known, `hidden` of each.
int lost_is_registered(lost_walk *w, const place *found, uintptr_t word);
void lost_count_hidden(lost_walk *w);
// cycle.c: whether a lost object leads to another. Sets `failed` where there is no memory.
int lost_leads_to(lost_walk *w, PyObject *from /* borrowed */, PyObject *to /* borrowed */);
// The holders of a node that tp_traverse does not tell of; calls `tell` with the holder or NULL, the offset
// of the word in the holder or in its block, and the offset in the holder of the pointer to that block or -1.
typedef int (*lost_tell)(PyObject *holder /* borrowed */, int64_t offset, int64_t link, void *argument);
int lost_hidden_holders(lost_walk *w, const lost_node *node, lost_tell tell, void *argument);
// cycle.c: the same, where the node itself is the holder.
int lost_own_holder(const lost_node *node, lost_tell tell, void *argument);

#endif
