// Whose are the inner blocks of a deque? No object points to them: a deque to its outer two blocks only, and
// from there it goes on from block to block.
//
// Followed from a block the chain may lead astray: what an outer block says of the block beyond it is left
// over (Modules/_collectionsmodule.c clears that in debug builds only), and in a queue, which takes its
// blocks from its other end, the chain goes round. So it is followed from the deque, for the deque's length:
// that is exact. Deques are found in the lists of the garbage collector, which are read only where a block
// looks like one of a deque's.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "search/holders.h"

enum { BLOCK_ITEMS = 64, RIGHT_LINK = 65, BLOCK_BYTES = 528 }; // two links around 64 items

typedef struct {
    PyObject_VAR_HEAD uintptr_t left, right; // outer blocks
} deque_head;

typedef struct {
    uintptr_t start;
    int found;
} deque_question;

// An inner block has a neighbour on either side that knows it.
static UNSANITIZED void neighbours_body(void *argument) {
    deque_question *q = argument;
    const uintptr_t *block = (const uintptr_t *)q->start;
    const uintptr_t *left = (const uintptr_t *)block[0], *right = (const uintptr_t *)block[RIGHT_LINK];
    q->found = left && (uintptr_t)left % 16 == 0 && left[RIGHT_LINK] == q->start && right &&
               (uintptr_t)right % 16 == 0 && right[0] == q->start;
}

// A debug allocator puts its prefix before the links; a large block passes through two of them. What stands
// there is no address: each place is asked under a guard of its own.
static int has_neighbours(const search *s, scan_range range) {
    uintptr_t prefix = s->view.object_prefix > 0 ? (uintptr_t)s->view.object_prefix : 0;
    for (uintptr_t left = prefix ? 3 : 1; left > 0; left--) {
        deque_question question = {range.start + (left - 1) * prefix, 0};
        if (question.start + BLOCK_BYTES <= range.stop && memory_guarded(neighbours_body, &question) == 0 &&
            question.found) {
            return 1;
        }
    }
    return 0;
}

static int is_asked(const search *s) {
    for (size_t i = 0; i < s->block_count; i++) {
        const block_row *row = &s->blocks[i];
        if (!row->holder && row->parent.start && has_neighbours(s, row->range)) {
            return 1;
        }
    }
    return 0;
}

static int is_deque(PyTypeObject *type) {
    for (; type && type->tp_basicsize > (Py_ssize_t)sizeof(deque_head); type = type->tp_base) {
        if (strcmp(type->tp_name, "collections.deque") == 0) {
            return 1;
        }
    }
    return 0;
}

static UNSANITIZED void take_blocks_of(search *s, PyObject *object) {
    deque_head *deque = (deque_head *)object;
    uintptr_t at = deque->left;
    for (Py_ssize_t left = Py_SIZE(object) / BLOCK_ITEMS + 2; left > 0 && at; left--) {
        block_row *row = search_block(s, at);
        if (row && !row->holder) {
            row->holder = object;
            row->link = (uintptr_t)&deque->left;
            row->certain = 1;
        }
        if (at == deque->right) {
            return;
        }
        at = ((const uintptr_t *)at)[RIGHT_LINK];
    }
}

static void deques_body(void *argument) {
    search *s = argument;
    for (int i = 0; i < COMPAT_GC_LISTS; i++) {
        PyGC_Head *head = compat_gc_list(&PyInterpreterState_Get()->gc, i);
        for (PyGC_Head *at = compat_gc_next(head); at != head; at = compat_gc_next(at)) {
            PyObject *object = compat_gc_object(at); // borrowed
            if (is_deque(Py_TYPE(object))) {
                take_blocks_of(s, object);
            }
        }
    }
}

void deques_search(search *s) {
    if (is_asked(s)) {
        memory_guarded(deques_body, s);
    }
}
