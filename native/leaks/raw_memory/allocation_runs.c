// Allocations by run: the blocks that the object allocator returned in each run and that are not freed yet.
//
// An object that C code makes and forgets is reached by no walk if the gc does not track it (a str, an int, a
// tuple that it untracked). But its block is live. While a run is recorded, leaks/frees.c reports each block
// that is allocated and each that is freed. Afterwards each live block is checked for an object.
//
// Frees between two runs are reported too, until the last note, unless another hook was installed over ours.
// So a block is read under the fault guard; the first word of a free block is a free-list link, which is no
// valid count. A block may hold words that only resemble an object. An object with a gc header that no walk
// met is in no gc list, so its header has no links (_PyObject_GC_UNTRACK). Who frees:
// allocation_runs_deinit().
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/raw_memory/followed.h"
#include "memory/memory.h"
#include "objects/objects.h"

#include "module/arena.h"

enum { FIRST_ROOM = 1 << 16, HEADER_WORDS = 2, GC_FLAGS = 3 };

typedef struct {
    uintptr_t block; // 0: free
    uint8_t run;     // 0: freed
} run_block;

int allocation_run;
static arena memory;
static size_t capacity, used;

static run_block *place_of(run_block *rows, size_t size, uintptr_t block) {
    size_t at = (size_t)((block >> 4) * 0x9E3779B97F4A7C15ULL >> 20) & (size - 1);
    while (rows[at].block && rows[at].block != block) {
        at = (at + 1) & (size - 1);
    }
    return &rows[at];
}

// Doubles the table, or keeps its size and drops the freed rows.
static int make_room(void) {
    run_block *old = memory.start;
    size_t alive = 0;
    for (size_t i = 0; i < capacity; i++) {
        alive += old[i].run != 0;
    }
    size_t size = !capacity ? FIRST_ROOM : alive * 4 > capacity ? capacity * 2 : capacity;
    arena wider = {NULL, 0};
    if (arena_resize(&wider, size * sizeof(run_block)) < 0) {
        return -1;
    }
    for (size_t i = 0; i < capacity; i++) {
        if (old[i].run) {
            *place_of(wider.start, size, old[i].block) = old[i];
        }
    }
    arena_deinit(&memory);
    memory = wider;
    capacity = size;
    used = alive;
    return 0;
}

void allocation_runs_add(void *block) {
    if (used * 2 >= capacity && make_room() < 0) {
        allocation_run = 0;
        return;
    }
    run_block *row = place_of(memory.start, capacity, (uintptr_t)block);
    used += !row->block;
    *row = (run_block){(uintptr_t)block, (uint8_t)allocation_run};
}

int allocation_runs_remove(void *block) {
    run_block *row = capacity && block ? place_of(memory.start, capacity, (uintptr_t)block) : NULL;
    if (!row || !row->block || !row->run) {
        return 0;
    }
    row->run = 0;
    return 1;
}

scan_range allocation_runs_range(void) {
    return (scan_range){(uintptr_t)memory.start, (uintptr_t)memory.start + memory.bytes};
}

void allocation_runs_deinit(void) {
    allocation_run = 0;
    arena_deinit(&memory);
    capacity = used = 0;
}

// Whether the header says that the object is in no gc list, or there is no header.
static int is_untracked(uintptr_t object, size_t header) {
    uintptr_t links[HEADER_WORDS];
    return header == OWN_NO_HEADER ||
           (memory_read(object - sizeof links, links, sizeof links) == sizeof links && links[0] <= GC_FLAGS &&
            links[1] <= GC_FLAGS);
}

// The object in an allocated block: its type is known and has a header of that size. Borrowed, or NULL.
static PyObject *object_in(uintptr_t block, int (*is_type)(uintptr_t)) {
    static const size_t headers[] = {OWN_NO_HEADER, OWN_GC_HEADER, OWN_DICT_HEADER};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        uintptr_t words[HEADER_WORDS], at = block + headers[i];
        if (memory_read(at, words, sizeof words) != sizeof words || !is_type(words[1])) {
            continue;
        }
        PyObject *object = (PyObject *)at;
        Py_ssize_t count = compat_refcount((PyObject *)words); // of the guarded copy
        if (count > 0 && count < (Py_ssize_t)1 << 30 && own_bytes_header(object) == headers[i] &&
            is_untracked(at, headers[i])) {
            return object;
        }
    }
    return NULL;
}

void allocation_runs_each(int (*is_type)(uintptr_t), void (*visit)(PyObject *, int)) {
    const run_block *rows = memory.start;
    for (size_t i = 0; i < capacity; i++) {
        PyObject *object = rows[i].run ? object_in(rows[i].block, is_type) : NULL;
        if (object) {
            visit(object, rows[i].run);
        }
    }
}
