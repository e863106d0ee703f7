// A large layer of a search in the order of memory.
//
// In a heap that lived for a while the objects of a layer lie anywhere. Reading them as they were met misses
// the processor's table of pages at each step, and no prefetch helps there: the walk through the kernel's
// tables is what is waited for. So a layer of many objects is sorted by the MiB they lie in, by counting, and
// each MiB's by their pages: neighbours were made at one time, and what they point to then lies together too.
// MiBs come in no order, objects of one page stay as they were met.
//
// The price: among paths of one length another may be told. So layers of half a million objects and less,
// where the whole search takes a fraction of a second, stay in the order of their roots.
//
// Memory: 12 bytes an object of the layer while it is sorted. Where that is refused the layer stays as it is.
#include "chain_search.h"

#define LARGE_LAYER (1 << 19) // objects
#define PAGES_A_MIB ((size_t)1 << (MARKS_SHIFT - 12))

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

typedef struct {
    PyObject **objects; // borrowed
    uint32_t *parents;
} chain_layer;

static void layer_put(chain_layer *to, size_t place, const chain_layer *from, size_t i) {
    to->objects[place] = from->objects[i];
    to->parents[place] = from->parents[i];
}

static size_t page_of(const PyObject *object) { return (uintptr_t)object >> 12 & (PAGES_A_MIB - 1); }

// Where the objects of each MiB begin: how many lie in those before it.
static void count_starts(const marks *seen, PyObject *const *objects, size_t count, size_t *starts) {
    for (size_t i = 0; i < count; i++) {
        starts[marks_slot(seen, objects[i]) + 1]++;
    }
    for (size_t slot = 0; slot < seen->capacity; slot++) {
        starts[slot + 1] += starts[slot];
    }
}

// One MiB's objects, from one array into the other: by page.
static void order_pages(const chain_layer *from, size_t first, size_t stop, chain_layer *to) {
    size_t places[PAGES_A_MIB + 1] = {0};
    for (size_t i = first; i < stop; i++) {
        places[page_of(from->objects[i]) + 1]++;
    }
    places[0] = first;
    for (size_t page = 0; page < PAGES_A_MIB; page++) {
        places[page + 1] += places[page];
    }
    for (size_t i = first; i < stop; i++) {
        layer_put(to, places[page_of(from->objects[i])]++, from, i);
    }
}

void chain_order(chain_search *search, size_t first) {
    const size_t count = search->count - first;
    const marks *seen = &search->seen;
    chain_sorted sorted = {0};
    if (count < LARGE_LAYER || sorted_init(&sorted, seen->capacity, count) < 0) {
        sorted_deinit(&sorted);
        return;
    }
    chain_layer layer = {object_at(search, first), parent_at(search, first)};
    chain_layer by_mib = {sorted.objects.start, sorted.parents.start};
    size_t *places = sorted.starts.start;
    room_huge(&sorted.objects);
    room_huge(&sorted.parents);
    count_starts(seen, layer.objects, count, places);
    for (size_t i = 0; i < count; i++) {
        layer_put(&by_mib, places[marks_slot(seen, layer.objects[i])]++, &layer, i);
    }
    for (size_t slot = 0, begin = 0; slot < seen->capacity; begin = places[slot++]) {
        order_pages(&by_mib, begin, places[slot], &layer); // where the next MiB begins by now
    }
    size_t bytes = sorted.starts.bytes + sorted.objects.bytes + sorted.parents.bytes;
    search->sorting_bytes = bytes > search->sorting_bytes ? bytes : search->sorting_bytes;
    sorted_deinit(&sorted);
}
