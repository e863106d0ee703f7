// Whose are the inner blocks of a deque? No object points to them: a deque to its outer two blocks only, and
// from there it goes on from block to block.
//
// Followed from a block the chain may lead astray: what an outer block says of the block beyond it is left
// over (Modules/_collectionsmodule.c clears that in debug builds only), and in a queue, which takes its
// blocks from its other end, the chain goes round. So it is followed from the deque, for the deque's length:
// that is exact. Deques are found in the lists of the garbage collector, which are read only where a block
// looks like one of a deque's.
#define INSPECTOR_INTERNALS
#include "holders.h"

#include <string.h>

enum { BLOCK_ITEMS = 64, RIGHT_LINK = 65, BLOCK_BYTES = 528 }; // two links around 64 items

typedef struct {
    PyObject_VAR_HEAD uintptr_t left, right; // outer blocks
} deque_head;

typedef struct {
    search *s;
    int found;
} deque_question;

// An inner block has a neighbour on either side that knows it. A debug allocator puts its prefix before the
// links; a large block passes through two of them.
static __attribute__((no_sanitize("address"))) int has_neighbours(const search *s, scan_range range) {
    uintptr_t prefix = s->view.object_prefix > 0 ? (uintptr_t)s->view.object_prefix : 0;
    for (uintptr_t start = range.start; start <= range.start + 2 * prefix; start += prefix ? prefix : 1) {
        const uintptr_t *block = (const uintptr_t *)start;
        if (start + BLOCK_BYTES > range.stop) {
            return 0;
        }
        const uintptr_t *left = (const uintptr_t *)block[0], *right = (const uintptr_t *)block[RIGHT_LINK];
        if (left && (uintptr_t)left % 16 == 0 && left[RIGHT_LINK] == start && right &&
            (uintptr_t)right % 16 == 0 && right[0] == start) {
            return 1;
        }
    }
    return 0;
}

static void look_body(void *argument) {
    deque_question *q = ((void **)argument)[0];
    q->found = has_neighbours(q->s, *(const scan_range *)((void **)argument)[1]);
}

static int is_asked(search *s) {
    for (size_t i = 0; i < s->block_count; i++) {
        deque_question question = {s, 0};
        void *argument[] = {&question, &s->blocks[i].range};
        if (!s->blocks[i].holder && s->blocks[i].parent.start && memory_guarded(look_body, argument) == 0 &&
            question.found) {
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

static __attribute__((no_sanitize("address"))) void take_blocks_of(search *s, PyObject *object) {
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
