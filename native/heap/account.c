// The account: whose the resident bytes of private anonymous memory are.
//
// One pass in order of addresses over [heap] and every writable mapping without a file. At each place the
// structures of the allocators are asked, the surest first: ranges that are known (C stacks, libraries' data,
// this walk's own memory); the heaps of glibc's malloc, chunk by chunk; its large blocks, by the header at
// the start of a page; pymalloc's pools, by their headers; at last what live objects claim (heap/claims.c),
// for memory of other allocators. A live block of malloc belongs to the object that claims memory in it. What
// nothing explains is a gap, told with its range and the library whose data points into it.
//
// Every piece counts with the pages of it that are resident (PAGEMAP_SCAN), so that the pieces of a mapping
// add up to at most its Rss in smaps; the caller compares. Chunks that lie in fast bins look live: their
// bytes are told apart, by arena. Other threads may allocate meanwhile: a walk that meets nonsense ends, and
// the rest of that heap is a gap.
//
// Memory: scratch and arenas, mapped for the walk and unmapped after it. The GIL is held, the gc is off.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "heap/claims.h"
#include "heap/gaps.h"
#include "heap/r_blocks.h"
#include "memory/addresses.h"
#include "search/holders.h"
#include "search/pymalloc.h"

#define PAGE ((uintptr_t)4096)
#define POOL ((uintptr_t)1 << PYMALLOC_POOL_SHIFT)
enum { GAP_LEAST = 4096, LARGEST = 16 };

typedef enum {
    PIECE_OBJECTS,     // live blocks of pymalloc, and larger blocks that objects claim
    PIECE_BUFFERS,     // what arrays and the like claim
    PIECE_BLOCKS,      // other live blocks of malloc
    PIECE_PYTHON_FREE, // pymalloc's
    PIECE_MALLOC_FREE, // glibc's, fast bins left out
    PIECE_FAST,        // in fast bins: counted among PIECE_BLOCKS too
    PIECE_STACKS,
    PIECE_STATICS,
    PIECE_OURS,
    PIECE_R, // blocks of malloc that R's heap is made of
    PIECE_KINDS,
} piece_kind;

typedef struct {
    uintptr_t start, stop;
    piece_kind kind;
} known_range;

typedef struct {
    PyObject *object; // borrowed
    uint64_t bytes;   // resident, of one block
} large_object;

typedef struct {
    claims claims;
    large_object largest[LARGEST];
    size_t at_claim; // the first that ends behind the walk
    search_view view;
    scan_runs runs;
    size_t at_run;
    known_range *known; // borrowed: in the scratch, by address
    size_t known_count;
    gap_table gaps;
    gap open;                    // the gap that is being walked
    tally large[CLAIM_KINDS];    // resident bytes of claims by type
    uint64_t bytes[PIECE_KINDS]; // of the current mapping
    uint64_t pools, pool_blocks; // of all
    const memory_map *map;       // borrowed: the current mapping
    int has_r;                   // libR is loaded
    int failed;
} account;

static uint64_t resident(account *a, uintptr_t start, uintptr_t stop) {
    uint64_t bytes = 0;
    while (a->at_run < a->runs.count && a->runs.rows[a->at_run].stop <= start) {
        a->at_run++;
    }
    for (size_t i = a->at_run; i < a->runs.count && a->runs.rows[i].start < stop; i++) {
        uintptr_t from = a->runs.rows[i].start > start ? a->runs.rows[i].start : start;
        uintptr_t to = a->runs.rows[i].stop < stop ? a->runs.rows[i].stop : stop;
        bytes += to - from;
    }
    return bytes;
}

static void close_gap(account *a) {
    if (a->open.resident >= GAP_LEAST && a->gaps.count < GAPS_MAX) {
        a->gaps.rows[a->gaps.count++] = a->open;
    }
    a->open = (gap){0, 0, 0};
}

static void add_gap(account *a, uintptr_t start, uintptr_t stop) {
    if (a->open.stop != start) {
        close_gap(a);
        a->open.start = start;
    }
    a->open.stop = stop;
    a->open.resident += resident(a, start, stop);
}

static const claim *claim_in(account *a, uintptr_t start, uintptr_t stop) {
    while (a->at_claim < a->claims.count && a->claims.rows[a->at_claim].stop <= start) {
        a->at_claim++;
    }
    const claim *row = &a->claims.rows[a->at_claim];
    return a->at_claim < a->claims.count && row->start < stop ? row : NULL;
}

// Keeps the LARGEST objects by one block of theirs, the smallest first.
static void note_large(account *a, PyObject *object, uint64_t bytes) {
    size_t at = 0; // most blocks are smaller than all of them: one comparison
    if (bytes <= a->largest[0].bytes) {
        return;
    }
    for (size_t i = 0; i < LARGEST; i++) {
        if (a->largest[i].object == object) {
            return; // of an object in pieces the first one counts
        }
    }
    for (; at < LARGEST && a->largest[at].bytes < bytes; at++) {
        if (at) {
            a->largest[at - 1] = a->largest[at];
        }
    }
    if (at) {
        a->largest[at - 1] = (large_object){object, bytes};
    }
}

static void add_piece(account *a, uintptr_t start, uintptr_t stop, piece_kind kind, const claim *by) {
    uint64_t bytes = resident(a, start, stop);
    a->bytes[kind] += bytes;
    if (by) {
        note_large(a, by->object, bytes);
        tally_row *row = tally_find(&a->large[by->kind], Py_TYPE(by->object));
        a->failed |= !row;
        if (row) {
            row->objects++;
            row->bytes += (Py_ssize_t)bytes;
        }
    }
}

static piece_kind block_of_c(const account *a, uintptr_t start, uintptr_t stop) {
    return a->has_r && r_block(&a->view.maps, start, stop) ? PIECE_R : PIECE_BLOCKS;
}

// A block of malloc; a malloc_look.
static void add_block(uintptr_t start, uintptr_t stop, block_state state, void *argument) {
    account *a = argument;
    // The block before may use the first word of this one's header (malloc_chunk.prev_size).
    const claim *by = state == BLOCK_LIVE ? claim_in(a, start + 2 * sizeof(size_t), stop) : NULL;
    piece_kind kind = state == BLOCK_FREE ? PIECE_MALLOC_FREE
                      : !by               ? block_of_c(a, start, stop)
                      : by->kind          ? PIECE_BUFFERS
                                          : PIECE_OBJECTS;
    add_piece(a, start, stop, kind, by);
}

// glibc's own heap that begins here: where it ends, or 0.
static UNSANITIZED uintptr_t walk_heap(account *a, uintptr_t at) {
    uintptr_t first = malloc_heap_start(&a->view.malloc, a->map, at);
    if (!first) {
        return 0;
    }
    uintptr_t stop = a->map->stop, arena = a->view.malloc.main_arena;
    if (a->map->path_length == 0) {
        stop = malloc_thread_heap(at, &arena);
        if (stop > a->map->stop || !memory_maps_find(&a->view.maps, arena)) {
            return 0;
        }
    }
    uintptr_t end = malloc_each(&a->view.malloc, first, stop, add_block, a);
    if (arena && end == malloc_arena_top(arena) && end < stop) { // the heap grew since the mappings were read
        add_block(end, stop, BLOCK_FREE, a);
        end = stop;
    }
    int begins = a->map->path_length || arena / ((uintptr_t)64 << 20) == at / ((uintptr_t)64 << 20);
    if (arena && begins) { // an arena of several heaps is counted with its first
        a->bytes[PIECE_FAST] += malloc_fast_bytes(&a->view.maps, arena);
    }
    return end;
}

static UNSANITIZED int walk_pool(account *a, uintptr_t at) {
    uint32_t live, blocks;
    if (at % POOL || at + POOL > a->map->stop || !pymalloc_pool_live(at, &live, &blocks)) {
        return 0;
    }
    uint64_t bytes = resident(a, at, at + POOL);
    live = live < bytes ? live : (uint32_t)bytes;
    a->bytes[PIECE_OBJECTS] += live;
    a->bytes[PIECE_PYTHON_FREE] += bytes - live;
    a->pools++;
    a->pool_blocks += blocks;
    return 1;
}

static const known_range *known_at(const account *a, uintptr_t at) {
    size_t below = addresses_below(a->known, a->known_count, sizeof *a->known, at + 1);
    return below && a->known[below - 1].stop > at ? &a->known[below - 1] : NULL;
}

// One step from a page's start: returns where the next one begins.
static UNSANITIZED uintptr_t walk_page(account *a, uintptr_t at) {
    const known_range *known = known_at(a, at);
    if (known) {
        uintptr_t stop = known->stop < a->map->stop ? known->stop : a->map->stop;
        add_piece(a, at, stop, known->kind, NULL);
        return stop;
    }
    uintptr_t end = walk_heap(a, at);
    if (end) {
        return end;
    }
    uintptr_t block = malloc_mapped_size(at, a->map->stop);
    if (block && a->view.malloc.usable) {
        add_block(at, at + block, BLOCK_LIVE, a);
        return at + block;
    }
    return walk_pool(a, at) ? at + POOL : 0;
}

// What is left of a page at `at`: claimed, or a gap.
static uintptr_t walk_rest(account *a, uintptr_t at) {
    uintptr_t page_stop = (at | (PAGE - 1)) + 1;
    const claim *by = claim_in(a, at, page_stop);
    if (!by) {
        add_gap(a, at, page_stop);
        return page_stop;
    }
    if (by->start > at) {
        add_gap(a, at, by->start);
        return by->start;
    }
    uintptr_t stop = by->stop < a->map->stop ? by->stop : a->map->stop;
    add_piece(a, at, stop, by->kind ? PIECE_BUFFERS : PIECE_OBJECTS, by);
    return stop;
}

static UNSANITIZED void walk_map(void *argument) {
    account *a = argument;
    uintptr_t at = a->map->start;
    while (at < a->map->stop && !a->failed) {
        while (a->at_run < a->runs.count && a->runs.rows[a->at_run].stop <= at) {
            a->at_run++;
        }
        if (a->at_run == a->runs.count || a->runs.rows[a->at_run].start >= a->map->stop) {
            break; // nothing resident is left
        }
        uintptr_t run = a->runs.rows[a->at_run].start;
        at = at < run ? run : at;
        uintptr_t next = at % PAGE ? 0 : walk_page(a, at);
        at = next > at ? next : walk_rest(a, at);
    }
    close_gap(a);
}

static int is_walked(const memory_map *map) {
    int is_private = memcmp(map->permissions, "rw-p", 4) == 0;
    int is_heap = map->path_length == 6 && memcmp(map->path, "[heap]", 6) == 0;
    int is_named = map->path_length > 6 && memcmp(map->path, "[anon:", 6) == 0;
    return is_private && (!map->path_length || is_heap || is_named);
}

static PyObject *map_row(const account *a) {
    PyObject *bytes = PyTuple_New(PIECE_KINDS);
    for (int kind = 0; bytes && kind < PIECE_KINDS; kind++) {
        if (tuple_set(bytes, kind, PyLong_FromUnsignedLongLong(a->bytes[kind])) < 0) {
            Py_CLEAR(bytes);
        }
    }
    return bytes ? Py_BuildValue("KKN", (unsigned long long)a->map->start, (unsigned long long)a->map->stop,
                                 bytes)
                 : NULL;
}

// Adjacent mappings are walked as one: a heap or a block may lie in several.
static int goes_on(const memory_map *below, const memory_map *above) {
    return below->stop == above->start && is_walked(above) && below->path_length == above->path_length &&
           memcmp(below->path, above->path, below->path_length) == 0;
}

static PyObject *walk_maps(account *a) {
    _owned_ PyObject *rows = PyList_New(0);
    for (size_t i = 0; rows && i < a->view.maps.count; i++) {
        memory_map whole = a->view.maps.rows[i];
        if (!is_walked(&whole)) {
            continue;
        }
        for (; i + 1 < a->view.maps.count && goes_on(&whole, &a->view.maps.rows[i + 1]); i++) {
            whole.stop = a->view.maps.rows[i + 1].stop;
        }
        memset(a->bytes, 0, sizeof a->bytes);
        a->map = &whole;
        memory_guarded(walk_map, a); // what vanishes meanwhile ends the walk of this mapping
        if (a->failed) {
            PyErr_NoMemory();
            return NULL;
        }
        if (list_add(rows, map_row(a)) < 0) {
            return NULL;
        }
    }
    return take(rows);
}

static void add_known(account *a, uintptr_t start, uintptr_t stop, piece_kind kind) {
    a->known[a->known_count++] = (known_range){start, stop, kind};
}

// Stacks of other threads are mappings whose top the thread's stack pointer is in; libraries' data.
static int find_known(account *a, scratch *memory) {
    size_t most = a->view.static_count + a->view.stack_count + 4;
    a->known = scratch_alloc(memory, most * sizeof *a->known);
    if (!a->known) {
        return -1;
    }
    for (size_t i = 0; i < a->view.static_count; i++) {
        scan_range range = a->view.statics[i];
        add_known(a, range.start & ~(PAGE - 1), (range.stop + PAGE - 1) & ~(PAGE - 1), PIECE_STATICS);
    }
    for (size_t i = 0; i < a->view.stack_count; i++) {
        const memory_map *map = memory_maps_find(&a->view.maps, a->view.stacks[i].start);
        int is_own = map && map->path_length;
        if (map && !is_own) {
            add_known(a, map->start, map->stop, PIECE_STACKS);
        }
    }
    add_known(a, (uintptr_t)memory->start, (uintptr_t)memory->start + memory->size, PIECE_OURS);
    add_known(a, (uintptr_t)a->claims.place.start, (uintptr_t)a->claims.place.start + a->claims.place.bytes,
              PIECE_OURS);
    qsort(a->known, a->known_count, sizeof *a->known, addresses_compare);
    return 0;
}

static int prepare(account *a, scratch *memory) {
    _owned_ PyObject *nowhere = PyUnicode_FromString("");
    a->gaps = (gap_table){scratch_alloc(memory, GAPS_MAX * sizeof(gap)), 0};
    if (!nowhere || !a->gaps.rows || memory_maps_init(&a->view.maps, memory) < 0 ||
        resident_runs_init(&a->runs, &a->view.maps, memory) < 0 ||
        search_view_init(&a->view, &a->runs, memory, nowhere) < 0 || find_known(a, memory) < 0) {
        return PyErr_Occurred() ? -1 : error_no_memory();
    }
    claims_settle(&a->claims);
    a->has_r = r_is_loaded(&a->view.maps);
    return 0;
}

// [(Subject, bytes)] of the largest objects, the largest first. New list.
static PyObject *largest_rows(const account *a, PyObject *subject_type) {
    _owned_ PyObject *rows = PyList_New(0);
    for (size_t i = LARGEST; rows && i-- > 0 && a->largest[i].object;) {
        PyObject *subject = PyObject_CallOneArg(subject_type, a->largest[i].object); // owned
        if (list_add(rows, subject ? Py_BuildValue("NK", subject, a->largest[i].bytes) : NULL) < 0) {
            return NULL;
        }
    }
    return take(rows);
}

static PyObject *account_rows(account *a, PyObject *module, scratch *memory) {
    if (prepare(a, memory) < 0) {
        return NULL;
    }
    _owned_ PyObject *maps = walk_maps(a);
    PyObject *subject_type = (PyObject *)native_get_state(module)->subject_type; // borrowed
    _owned_ PyObject *largest = maps ? largest_rows(a, subject_type) : NULL;
    _owned_ PyObject *gaps = largest ? gaps_rows(&a->gaps, &a->runs, memory) : NULL;
    _owned_ PyObject *small = gaps ? tally_list(&a->claims.small) : NULL;
    _owned_ PyObject *large = small ? tally_list(&a->large[CLAIM_OBJECT]) : NULL;
    _owned_ PyObject *buffers = large ? tally_list(&a->large[CLAIM_BUFFER]) : NULL;
    return buffers ? Py_BuildValue("OOOOOOKK", maps, gaps, small, large, buffers, largest, a->pools,
                                   a->pool_blocks)
                   : NULL;
}

static PyObject *account_take(PyObject *module, PyObject *args) {
    PyObject *ours, *told; // borrowed
    account a = {.failed = 0};
    if (!PyArg_ParseTuple(args, "O!O!:account", &PyTuple_Type, &ours, &PyTuple_Type, &told)) {
        return NULL;
    }
    _scratch_ scratch memory;
    if (scratch_init(&memory, SCRATCH_BYTES) < 0) {
        return PyErr_NoMemory();
    }
    edges_prepare();
    _collector_ int was_on = PyGC_Disable();
    memory_guard_arm();
    int is_ready = claims_collect(&a.claims, ours) == 0 && claims_add_told(&a.claims, told) == 0;
    PyObject *rows = is_ready ? account_rows(&a, module, &memory) : NULL; // owned
    memory_guard_disarm();
    claims_deinit(&a.claims);
    tally_deinit(&a.large[CLAIM_OBJECT]);
    tally_deinit(&a.large[CLAIM_BUFFER]);
    return rows;
}

PART_FUNCTIONS(account, {"account", account_take, METH_VARARGS, NULL})
