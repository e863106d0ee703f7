// A large layer of a search in the order of memory.
//
// In a heap that lived for a while the objects of a layer lie anywhere. Reading them as they were met misses
// the processor's table of pages at each step, and no prefetch helps there: the walk through the kernel's
// tables is what is waited for. So a layer of many objects is followed by its marks, from one address to the
// next: neighbours were made at one time, and what they point to then lies together too. Nothing is sorted.
// When a layer grows large, what was seen before it is noted, a bit for each 16 bytes; what was seen since is
// the layer. MiBs come in no order.
//
// A bit does not say in which half of its 16 bytes an object begins. Allocators give out whole 16 bytes;
// what the interpreter has of its own may begin in the middle, and is taken from the layer as it was met.
//
// The price: among paths of one length another may be told. So layers of half a million objects and less,
// where the whole search takes a fraction of a second, stay in the order of their roots.
//
// Memory: a bit for each 16 bytes of heap, twice. Where that is refused the layer stays as it is.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "heap/chain_search.h"

static int is_unaligned(const PyObject *object) { return ((uintptr_t)object & 15) != 0; }

static int copy_rows(const marks *from, marks *to) {
    for (size_t i = 0; i < from->capacity; i++) {
        const marks_row *row = &from->rows[i];
        uint64_t *bits = row->number ? marks_bitmap(to, row->number) : NULL;
        if (bits) {
            memcpy(bits, row->bits, MARKS_WORDS * sizeof *bits);
        } else if (row->number) {
            return -1;
        }
    }
    return 0;
}

static void unset(marks *marks, const PyObject *object) {
    *marks_word(marks, object) &= ~((uint64_t)1 << (((uintptr_t)object >> 4) & 63));
}

void chain_order_note(chain_search *search) {
    marks *before = &search->before;
    if (marks_init(before) < 0 || copy_rows(&search->seen, before) < 0) {
        marks_deinit(before);
        *before = (marks){0};
        return;
    }
    for (size_t i = search->layer.stop; i < search->count; i++) {
        unset(before, *object_at(search, i));
    }
}

// From what was seen before the layer to what was seen since. -1 when memory is out.
static int take_since(const marks *seen, marks *before) {
    for (size_t i = 0; i < seen->capacity; i++) {
        const marks_row *row = &seen->rows[i];
        uint64_t *bits = row->number ? marks_bitmap(before, row->number) : NULL;
        if (row->number && !bits) {
            return -1;
        }
        for (size_t word = 0; bits && word < MARKS_WORDS; word++) {
            bits[word] = row->bits[word] & ~bits[word];
        }
    }
    return 0;
}

void chain_order_begin(chain_search *search) {
    chain_layer *layer = &search->layer;
    marks_deinit(&layer->marks);
    *layer = (chain_layer){.first = layer->stop, .next = layer->stop, .stop = search->count};
    marks *before = &search->before;
    if (before->rows) {
        size_t bytes = marks_bytes(before) * 2;
        search->layer_bytes = bytes > search->layer_bytes ? bytes : search->layer_bytes;
        layer->is_ordered = take_since(&search->seen, before) == 0;
        layer->marks = *before;
        *before = (marks){0};
    }
    if (layer->is_ordered && !search->unaligned) {
        layer->next = layer->stop;
    }
    search->unaligned = 0;
}

static size_t take_met(chain_search *search, PyObject **ret, size_t most) {
    chain_layer *layer = &search->layer;
    size_t count = 0;
    for (; layer->next < layer->stop && count < most; layer->next++) {
        PyObject *object = *object_at(search, layer->next);
        if (!layer->is_ordered) {
            ret[count++] = object;
        } else if (is_unaligned(object)) {
            unset(&layer->marks, object);
            ret[count++] = object;
        }
    }
    return count;
}

static size_t take_bits(uint64_t *word, uintptr_t start, PyObject **ret, size_t most) {
    size_t count = 0;
    for (; *word && count < most; *word &= *word - 1) {
        ret[count++] = (PyObject *)(start + ((uintptr_t)__builtin_ctzll(*word) << 4));
    }
    return count;
}

static size_t take_marked(chain_layer *layer, PyObject **ret, size_t most) {
    size_t count = 0;
    for (; layer->row < layer->marks.capacity; layer->row++, layer->word = 0) {
        const marks_row *row = &layer->marks.rows[layer->row];
        for (; row->number && layer->word < MARKS_WORDS; layer->word++) {
            uintptr_t start = ((row->number - 1) << MARKS_SHIFT) + ((uintptr_t)layer->word << 10);
            count += take_bits(&row->bits[layer->word], start, ret + count, most - count);
            if (count == most) {
                return count;
            }
        }
    }
    return count;
}

size_t chain_order_take(chain_search *search, PyObject **ret, size_t most) {
    size_t count = take_met(search, ret, most);
    return count || !search->layer.is_ordered ? count : take_marked(&search->layer, ret, most);
}

void chain_order_deinit(chain_search *search) {
    marks_deinit(&search->before);
    marks_deinit(&search->layer.marks);
}
