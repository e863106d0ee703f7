// A search for a path: chain.c finds it, chain_steps.c writes it down.
#ifndef INSPECTOR_CHAIN_SEARCH_H
#define INSPECTOR_CHAIN_SEARCH_H

#include "native.h"

#include "interrupt.h"
#include "leaf_pools.h"
#include "marks.h"

typedef enum { ROOT_DICT, ROOT_MODULE, ROOT_FRAME, ROOT_THREAD } root_kind;

typedef struct {
    root_kind kind;
    PyObject *object; // borrowed: dict or module; NULL for a frame
    PyObject *owner;  // borrowed: the module of a dict, or NULL
    frame_view frame;
} chain_root;

// Met, but not asked yet whether it was met before: its word of the marks is on the way.
typedef struct {
    PyObject *object; // borrowed
    uint64_t *word;
    uint32_t parent;
} chain_met;

#define CHAIN_MET 32u

typedef struct {
    PyObject *target;          // borrowed
    PyTypeObject *passed_over; // borrowed: Subject
    PyObject *names;           // borrowed tuple of ids
    PyObject *folder;          // borrowed str
    marks seen;
    leaf_pools leaves;
    room roots, objects, parents; // of chain_root, PyObject *, uint32_t
    size_t root_count, count;     // entries 0 .. root_count - 1 are the roots
    size_t sorting_bytes;         // the most that chain_order took for a while
    size_t current;               // the entry whose references are being followed
    chain_met met[CHAIN_MET];     // a ring: what was met last, in order
    unsigned met_next;
    interrupt_watch watch;
    int found, failed; // failed: memory ran out, or Ctrl-C
} chain_search;

static inline chain_root *root_at(chain_search *search, size_t i) {
    return (chain_root *)search->roots.start + i;
}

static inline PyObject **object_at(chain_search *search, size_t i) {
    return (PyObject **)search->objects.start + (i - search->root_count);
}

static inline uint32_t *parent_at(chain_search *search, size_t i) {
    return (uint32_t *)search->parents.start + (i - search->root_count);
}

// Puts the entries from `first` on, the next layer, into the order of memory where they are many.
void chain_order(chain_search *search, size_t first);

// The steps of the path that was found, the root first: _native.pyi says what a row holds. New reference.
PyObject *chain_steps(chain_search *search);

#endif
