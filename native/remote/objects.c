// Finds the containers in another process that hold given words: a walk over its gc lists, from outside.
//
// Overview. The caller has stopped the process and found words that hold a pointer (remote/still.c). Every
// container that the gc tracks is checked once: does one of the words lie in the object, the items of its
// list, the keys or values of its dict, the table of its set, its instance values? The layouts are those of
// CPython 3.11 to 3.15. The caller passes them in (debugger/attach/object_layout.py): versions differ.
//
// Reads go through a cache of pages: neighbours in a gc list were mostly allocated one after the other. The
// process is stopped, so cached pages stay valid. An unreadable link ends its list and is reported.
// SPDX-License-Identifier: MIT
#include "memory/addresses.h"
#include "memory/memory.h"

#include <sys/uio.h>

enum {
    WALK_PAGE = 4096,
    WALK_SPECIAL = 4,
    WALK_PAGES = 1024,
    WALK_TYPES = 8192,
    WALK_GC_HEAD = 16,
    WALK_MANAGED = 4, // bit of tp_flags: Py_TPFLAGS_MANAGED_DICT
    WALK_INLINE = 2,  // Py_TPFLAGS_INLINE_VALUES (3.13)
    WALK_GENERAL = 0, // DICT_KEYS_GENERAL: entries of three words
};
typedef enum { HOLD_INSIDE, HOLD_ITEMS, HOLD_ENTRIES, HOLD_VALUES, HOLD_TABLE, HOLD_ATTRIBUTES } walk_how;

typedef struct {
    uintptr_t page;
    unsigned char bytes[WALK_PAGE];
} walk_page;

typedef struct {
    uintptr_t type; // 0: a free row
    int64_t basic, item;
    uint64_t flags;
    int is_set, is_generator;
    uint64_t shared; // number of instance values
} walk_type;

// Offsets from the caller, for the version of the process.
typedef struct {
    int minor;
    long long generator_frame, frame_code, code_variables, code_stack, frame_variables, cached_keys;
} walk_layout;

typedef struct {
    pid_t pid;
    walk_layout layout;
    walk_page *pages; // borrowed: in the scratch
    walk_type *types; // borrowed: in the scratch
    size_t type_count;
    uintptr_t *words; // borrowed: in the scratch; by address
    size_t word_count;
    uintptr_t sets[WALK_SPECIAL],
        generators[WALK_SPECIAL]; // types with a layout of their own; 0: none
    PyObject *found;              // borrowed: the list of results
    uint64_t walked;
    int whole; // 0: a list could not be read to its end
} walk;

static int walk_read_page(walk *w, uintptr_t page, walk_page **ret) {
    walk_page *slot = &w->pages[page / WALK_PAGE % WALK_PAGES];
    *ret = slot;
    if (slot->page == page) {
        return 0;
    }
    struct iovec ours = {slot->bytes, WALK_PAGE}, theirs = {(void *)page, WALK_PAGE};
    slot->page = 0;
    if (process_vm_readv(w->pid, &ours, 1, &theirs, 1, 0) != WALK_PAGE) {
        return -1;
    }
    slot->page = page;
    return 0;
}

static int walk_read(walk *w, uintptr_t address, void *to, size_t size) {
    char *into = to;
    while (size) {
        walk_page *page;
        size_t offset = address % WALK_PAGE, part = WALK_PAGE - offset < size ? WALK_PAGE - offset : size;
        if (address < WALK_PAGE || walk_read_page(w, address - offset, &page) < 0) {
            return -1;
        }
        memcpy(into, page->bytes + offset, part);
        address += part, into += part, size -= part;
    }
    return 0;
}

static uint64_t walk_word(walk *w, uintptr_t address) {
    uint64_t word = 0;
    return walk_read(w, address, &word, 8) < 0 ? 0 : word;
}

static uint32_t walk_half(walk *w, uintptr_t address) {
    uint32_t word = 0;
    return walk_read(w, address, &word, 4) < 0 ? 0 : word;
}

static int walk_is_one(const uintptr_t *types, uintptr_t type) {
    for (int i = 0; i < WALK_SPECIAL; i++) {
        if (types[i] == type) {
            return 1;
        }
    }
    return 0;
}

// Type names are not read: their pages may be ones that the process never touched.
static void walk_type_read(walk *w, walk_type *row) {
    row->basic = (int64_t)walk_word(w, row->type + 32);
    row->item = (int64_t)walk_word(w, row->type + 40);
    row->flags = walk_word(w, row->type + 168);
    row->is_set = walk_is_one(w->sets, row->type);
    row->is_generator = walk_is_one(w->generators, row->type);
    if (row->flags >> WALK_MANAGED & 1) {
        uintptr_t keys = (uintptr_t)walk_word(w, row->type + (uintptr_t)w->layout.cached_keys);
        row->shared = keys ? walk_word(w, keys + 24) : 0;  // dk_nentries
        row->shared = row->shared > 30 ? 30 : row->shared; // SHARED_KEYS_MAX_SIZE
    }
}

static const walk_type *walk_type_of(walk *w, uintptr_t type) {
    size_t at = (type >> 4) * 0x9E3779B97F4A7C15ull >> 51; // 13 bits
    while (w->types[at].type && w->types[at].type != type) {
        at = (at + 1) % WALK_TYPES;
    }
    if (!w->types[at].type) {
        if (w->type_count == WALK_TYPES / 2) { // full: starts again
            memset(w->types, 0, WALK_TYPES * sizeof *w->types);
            w->type_count = 0;
        }
        w->types[at].type = type;
        w->type_count++;
        walk_type_read(w, &w->types[at]);
    }
    return &w->types[at];
}

static size_t walk_first(const walk *w, uintptr_t address) {
    return addresses_below(w->words, w->word_count, sizeof *w->words, address);
}

static int walk_take(walk *w, uintptr_t object, uintptr_t start, uint64_t bytes, walk_how how) {
    for (size_t i = walk_first(w, start); i < w->word_count && w->words[i] - start < bytes; i++) {
        if (list_add(w->found, Py_BuildValue("KKi", (unsigned long long)w->words[i],
                                             (unsigned long long)object, (int)how)) < 0) {
            return -1;
        }
    }
    return 0;
}

// How many slots of a frame are in use: stacktop up to 3.13, then by the stack pointer. -1: it is running.
static uint32_t walk_frame_top(walk *w, uintptr_t frame) {
    uintptr_t slots = frame + (uintptr_t)w->layout.frame_variables;
    if (w->layout.minor < 14) {
        return walk_half(w, slots - 8);
    }
    uintptr_t top = (uintptr_t)walk_word(w, slots - 16);
    return top >= slots ? (uint32_t)((top - slots) / 8) : UINT32_MAX;
}

static uint64_t walk_generator_bytes(walk *w, uintptr_t object) {
    uintptr_t frame = object + (uintptr_t)w->layout.generator_frame;
    uintptr_t code = (uintptr_t)walk_word(w, frame + (uintptr_t)w->layout.frame_code) & ~(uintptr_t)3;
    uint64_t slots = (uint64_t)walk_half(w, code + (uintptr_t)w->layout.code_variables) +
                     walk_half(w, code + (uintptr_t)w->layout.code_stack);
    uint32_t top = walk_frame_top(w, frame);
    slots = top < slots ? top : slots;
    return (uint64_t)w->layout.generator_frame + (uint64_t)w->layout.frame_variables +
           8 * (slots > 65536 ? 0 : slots);
}

static uint64_t walk_object_bytes(walk *w, uintptr_t object, const walk_type *type) {
    uint64_t bytes = type->basic > 0 ? (uint64_t)type->basic : 16;
    if (type->is_generator) {
        return walk_generator_bytes(w, object);
    }
    if (type->flags >> WALK_INLINE & 1 && w->layout.minor >= 13) {
        unsigned char capacity = 0;
        walk_read(w, object + bytes, &capacity, 1);
        return bytes + 8 + 8ull * capacity;
    }
    if (type->item > 0 && type->item <= 4096) {
        int64_t size = (int64_t)walk_word(w, object + 16);
        size = size < 0 ? -size : size;
        bytes += size < (int64_t)1 << 40 ? (uint64_t)size * (uint64_t)type->item : 0;
    }
    return bytes;
}

static int walk_dict(walk *w, uintptr_t object) {
    uintptr_t keys = (uintptr_t)walk_word(w, object + 32), values = (uintptr_t)walk_word(w, object + 40);
    unsigned char head[32];
    if (walk_first(w, keys < values || !values ? keys : values) == w->word_count ||
        walk_read(w, keys, head, sizeof head) < 0) {
        return 0;
    }
    uint64_t entries, indices = head[9] < 40 ? 1ull << head[9] : 0;
    memcpy(&entries, head + 24, 8);
    if (values) {
        return walk_take(w, object, values + (w->layout.minor >= 13 ? 8 : 0), 8 * entries, HOLD_VALUES);
    }
    return walk_take(w, object, keys + 32 + indices, entries * (head[10] == WALK_GENERAL ? 24 : 16),
                     HOLD_ENTRIES);
}

static int walk_attributes(walk *w, uintptr_t object, const walk_type *type) {
    uintptr_t values;
    if (w->layout.minor == 11) {
        values = (uintptr_t)walk_word(w, object - 32);
    } else {
        values = (uintptr_t)walk_word(w, object - 24); // 3.12: the low bit means values, at the address + 1
        values = values & 1 ? values + 1 : 0;
    }
    return values ? walk_take(w, object, values, 8 * type->shared, HOLD_ATTRIBUTES) : 0;
}

static int walk_object(walk *w, uintptr_t object) {
    const walk_type *type = walk_type_of(w, (uintptr_t)walk_word(w, object + 8));
    int managed = type->flags >> WALK_MANAGED & 1;
    uintptr_t start = object - (managed ? WALK_GC_HEAD + 16 : WALK_GC_HEAD);
    if (walk_take(w, object, start, walk_object_bytes(w, object, type) + (object - start), HOLD_INSIDE) < 0) {
        return -1;
    }
    if (managed && w->layout.minor <= 12 && walk_attributes(w, object, type) < 0) {
        return -1;
    }
    if (type->flags >> 25 & 1) { // Py_TPFLAGS_LIST_SUBCLASS: ob_item, allocated
        return walk_take(w, object, (uintptr_t)walk_word(w, object + 24), 8 * walk_word(w, object + 16),
                         HOLD_ITEMS);
    }
    if (type->flags >> 29 & 1) { // Py_TPFLAGS_DICT_SUBCLASS
        return walk_dict(w, object);
    }
    return type->is_set ? walk_take(w, object, (uintptr_t)walk_word(w, object + 40),
                                    16 * (walk_word(w, object + 32) + 1), HOLD_TABLE)
                        : 0;
}

// A gc list is a ring: it ends at its head. The low bits of a link are flags of the gc.
static int walk_list(walk *w, uintptr_t head, uint64_t limit) {
    uintptr_t at = (uintptr_t)walk_word(w, head) & ~(uintptr_t)3;
    while (at != head) {
        if (!at || w->walked == limit) {
            w->whole = 0;
            return 0;
        }
        if (walk_object(w, at + WALK_GC_HEAD) < 0 || (w->walked % 65536 == 0 && PyErr_CheckSignals() < 0)) {
            return -1;
        }
        w->walked++;
        at = (uintptr_t)walk_word(w, at) & ~(uintptr_t)3;
    }
    return 0;
}

static int walk_special(PyObject *types, uintptr_t *ret) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(types) && i < WALK_SPECIAL; i++) {
        ret[i] = (uintptr_t)PyLong_AsUnsignedLongLong(PyList_GET_ITEM(types, i));
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int walk_prepare(walk *w, scratch *memory, PyObject *words) {
    w->pages = scratch_alloc(memory, WALK_PAGES * sizeof *w->pages);
    w->types = scratch_alloc(memory, WALK_TYPES * sizeof *w->types);
    w->words = scratch_alloc(memory, (size_t)PyList_GET_SIZE(words) * 8 + 8);
    if (!w->pages || !w->types || !w->words) {
        return error_no_memory();
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(words); i++) {
        w->words[w->word_count++] = (uintptr_t)PyLong_AsUnsignedLongLong(PyList_GET_ITEM(words, i));
    }
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *remote_holders(PyObject *module, PyObject *args) {
    int pid;
    PyObject *heads, *words, *sets, *generators; // borrowed
    unsigned long long limit;
    walk w = {.whole = 1};
    walk_layout *l = &w.layout;
    if (!PyArg_ParseTuple(args, "iO!O!O!O!(iLLLLLL)K:remote_holders", &pid, &PyList_Type, &heads,
                          &PyList_Type, &words, &PyList_Type, &sets, &PyList_Type, &generators, &l->minor,
                          &l->generator_frame, &l->frame_code, &l->code_variables, &l->code_stack,
                          &l->frame_variables, &l->cached_keys, &limit)) {
        return NULL;
    }
    _scratch_ scratch memory = {0};
    _owned_ PyObject *found = PyList_New(0);
    w.pid = pid;
    w.found = found;
    if (!found || scratch_init(&memory, SCRATCH_BYTES) < 0) {
        return PyErr_NoMemory();
    }
    if (walk_prepare(&w, &memory, words) < 0 || walk_special(sets, w.sets) < 0 ||
        walk_special(generators, w.generators) < 0) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(heads); i++) {
        unsigned long long head = PyLong_AsUnsignedLongLong(PyList_GET_ITEM(heads, i));
        if (PyErr_Occurred() || walk_list(&w, (uintptr_t)head, limit) < 0) {
            return NULL;
        }
    }
    return Py_BuildValue("OKO", found, (unsigned long long)w.walked, w.whole ? Py_True : Py_False);
}

PART_FUNCTIONS(remote_objects, {"remote_holders", remote_holders, METH_VARARGS, NULL})
