// A search for a path: heap/chain.c finds it, heap/chain_steps.c writes it down.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CHAIN_SEARCH_H
#define INSPECTOR_CHAIN_SEARCH_H

#include "heap/leaf_pools.h"
#include "memory/marks.h"
#include "module/interrupt.h"
#include "objects/objects.h"

typedef enum { ROOT_DICT, ROOT_MODULE, ROOT_FRAME, ROOT_THREAD } root_kind;

typedef struct {
    root_kind kind;
    PyObject *object; // borrowed: dict or module; NULL for a frame
    PyObject *owner;  // borrowed: the module of a dict, or NULL
    frame_view frame;
} chain_root;

// Who refers to an object: the holder's address, which is even, or twice a root's number plus one.
typedef uintptr_t chain_holder;

// Objects that were entered one after the other from one holder, up to where the next family begins.
typedef struct __attribute__((packed)) {
    uint32_t first;
    chain_holder holder;
} chain_family;

// Met, but not asked yet whether it was met before: its word of the marks is on the way.
typedef struct {
    PyObject *object; // borrowed
    uint64_t *word;
    chain_holder holder;
} chain_met;

#define CHAIN_MET 32u
#define CHAIN_LARGE_LAYER ((size_t)1 << 19) // objects

// The layer that is followed: where it begins and ends among the objects entered, and how far it was taken.
typedef struct {
    size_t first, stop, next;
    int is_ordered;   // by its marks; its objects that begin between the places of two bits come first
    marks marks;      // what is in it and was not taken
    size_t row, word; // of the marks, taken next
} chain_layer;

typedef struct {
    PyObject *target;          // borrowed
    PyTypeObject *passed_over; // borrowed: Subject
    PyObject *names;           // borrowed tuple of ids
    PyObject *folder;          // borrowed str
    marks seen;
    marks before; // what was seen before the layer that is met now, once that layer is large
    leaf_pools leaves;
    arena roots, objects, families; // of chain_root, PyObject *, chain_family
    size_t root_count, count, family_count;
    chain_layer layer;
    int unaligned;            // an object of the layer that is met now begins between the places of two bits
    size_t layer_bytes;       // the most that marks of large layers took
    chain_holder holder;      // whose references are being followed
    chain_holder last;        // the last family's
    chain_met met[CHAIN_MET]; // a ring: what was met last, in order
    unsigned met_next;
    interrupt_watch watch;
    int found, failed; // failed: memory ran out, or Ctrl-C
} chain_search;

static inline chain_root *root_at(chain_search *search, size_t i) {
    return (chain_root *)search->roots.start + i;
}

static inline PyObject **object_at(chain_search *search, size_t i) {
    return (PyObject **)search->objects.start + i;
}

static inline chain_family *family_at(chain_search *search, size_t i) {
    return (chain_family *)search->families.start + i;
}

// The layer that is met now has become a large one: notes what was seen before it.
void chain_order_note(chain_search *search);

// Begins to follow what was entered since the layer before.
void chain_order_begin(chain_search *search);

// Some objects more of the layer, borrowed, up to `most`; 0 at its end.
size_t chain_order_take(chain_search *search, PyObject **ret /* borrowed */, size_t most);

void chain_order_deinit(chain_search *search);

// The steps of the path that was found, the root first: _native.pyi says what a row holds. New reference.
PyObject *chain_steps(chain_search *search);

#endif
