// A binding's table of its instances, which owns nothing: an address of C++, and behind it the instance.
//
// So are pybind11's registered_instances, nanobind's inst_c2p and sip's map of objects laid out. The address
// is one inside of the instance, or one that the instance has too. A table that owns looks the same. So it is
// left out only where each reference to the instance has a word that may be its owner, in lost objects and in
// the blocks of C that untracked ones of them point to; and only where the type has no tp_traverse.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/lost/lost.h"
#include "memory/memory.h"

static uintptr_t word_at(uintptr_t address) {
    uintptr_t word = 0;
    return memory_read(address, &word, sizeof word) == sizeof word ? word : 0;
}

static Py_ssize_t own_words(const lost_node *node, uintptr_t wanted) {
    Py_ssize_t found = 0;
    for (uintptr_t at = node->start + sizeof(PyObject); at + sizeof at <= node->stop; at += sizeof at) {
        found += word_at(at) == wanted;
    }
    return found;
}

// The instance of the entry whose two words begin at `at`, or NULL.
static lost_node *instance_at(const lost_walk *w, uintptr_t at) {
    uintptr_t key = word_at(at);
    lost_node *node = key ? lost_node_at(w, (void *)word_at(at + sizeof key)) : NULL;
    int is_known = node && ((key > node->start && key < node->stop) || own_words(node, key));
    return is_known && !PyObject_IS_GC(node->object) ? node : NULL;
}

int lost_is_registered(lost_walk *w, const place *found, uintptr_t word) {
    int is_table = found->kind == PLACE_BLOCK || found->kind == PLACE_STATIC || found->kind == PLACE_MAPPING;
    lost_node *node = is_table ? instance_at(w, word) : NULL; // of its key; of its value else
    node = node || !is_table ? node : instance_at(w, word - sizeof word);
    if (node) {
        node->is_registered = 1;
    }
    return node != NULL;
}

// Which blocks are an untracked object's own. What a tracked object has in one, as a list its items, its
// tp_traverse tells of; and in a block that nobody has, an old word may lie.
static void mark_own_blocks(lost_walk *w) {
    for (size_t i = 0; i < w->edge_count; i++) {
        const lost_node *from = lost_node_at(w, (void *)w->edges[i].from);
        lost_block *to = from ? lost_block_at(w, w->edges[i].to) : NULL;
        if (to && PyObject_IS_GC(from->object)) {
            to->is_told = 1;
        } else if (to) {
            to->is_own = 1;
        }
    }
}

static int is_hidden(const lost_walk *w, const lost_edge *edge) {
    const lost_block *block = lost_block_at(w, edge->from);
    return block ? block->is_own && !block->is_told
                 : !lost_is_told((PyObject *)edge->from, (PyObject *)edge->to);
}

void lost_count_hidden(lost_walk *w) {
    mark_own_blocks(w);
    for (size_t i = 0; i < w->node_count; i++) {
        lost_node *node = &w->nodes[i];
        node->hidden = node->is_registered ? own_words(node, node->start) : 0;
    }
    for (size_t i = 0; i < w->edge_count; i++) {
        lost_node *to = lost_node_at(w, (void *)w->edges[i].to);
        if (to && to->is_registered && is_hidden(w, &w->edges[i])) {
            to->hidden++;
        }
    }
}
