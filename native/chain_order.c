// A large layer of a search in the order of memory.
//
// In a heap that lived for a while the objects of a layer lie anywhere. Reading them as they were met misses
// the processor's table of pages at each step, and no prefetch helps there: the walk through the kernel's
// tables is what is waited for. So a layer of many objects is sorted by the MiB they lie in, once, by
// counting; then the pages of one MiB are read together. MiBs come in no order, objects of one stay as they
// were met.
//
// The price: among paths of one length another may be told. So layers of half a million objects and less,
// where the whole search takes a fraction of a second, stay in the order of their roots.
//
// Memory: 12 bytes an object of the layer while it is sorted. Where that is refused the layer stays as it is.
#include "chain_search.h"

#include <string.h>

#define LARGE_LAYER (1 << 19) // objects

typedef struct {
    room starts, objects, parents; // size_t for each row of the marks, PyObject *, uint32_t
} chain_sorted;

static int sorted_init(chain_sorted *sorted, size_t rows, size_t count) {
    return room_resize(&sorted->starts, (rows + 1) * sizeof(size_t)) < 0 ||
                   room_resize(&sorted->objects, count * sizeof(PyObject *)) < 0 ||
                   room_resize(&sorted->parents, count * sizeof(uint32_t)) < 0
               ? -1
               : 0;
}

static void sorted_deinit(chain_sorted *sorted) {
    room_deinit(&sorted->starts);
    room_deinit(&sorted->objects);
    room_deinit(&sorted->parents);
}

// Where the objects of each MiB begin: how many lie in those before it.
static void count_starts(const marks *seen, PyObject *const *objects, size_t count, size_t *starts) {
    for (size_t i = 0; i < count; i++) {
        starts[marks_slot(seen, objects[i]) + 1]++;
    }
    for (size_t slot = 0; slot < seen->capacity; slot++) {
        starts[slot + 1] += starts[slot];
    }
}

void chain_order(chain_search *search, size_t first) {
    const size_t count = search->count - first;
    chain_sorted sorted = {0};
    if (count < LARGE_LAYER || sorted_init(&sorted, search->seen.capacity, count) < 0) {
        sorted_deinit(&sorted);
        return;
    }
    PyObject **objects = object_at(search, first), **to = sorted.objects.start; // borrowed
    uint32_t *parents = parent_at(search, first), *to_parents = sorted.parents.start;
    size_t *starts = sorted.starts.start;
    room_huge(&sorted.objects);
    room_huge(&sorted.parents);
    count_starts(&search->seen, objects, count, starts);
    for (size_t i = 0; i < count; i++) {
        size_t place = starts[marks_slot(&search->seen, objects[i])]++;
        to[place] = objects[i];
        to_parents[place] = parents[i];
    }
    memcpy(objects, to, count * sizeof *to);
    memcpy(parents, to_parents, count * sizeof *to_parents);
    size_t bytes = sorted.starts.bytes + sorted.objects.bytes + sorted.parents.bytes;
    search->sorting_bytes = bytes > search->sorting_bytes ? bytes : search->sorting_bytes;
    sorted_deinit(&sorted);
}
