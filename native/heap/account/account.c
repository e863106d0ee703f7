// The account: whose the resident bytes of private anonymous memory are.
//
// One pass in order of addresses over [heap] and every writable mapping without a file. At each place the
// structures of the allocators are asked, the surest first: ranges that are known (C stacks, libraries' data,
// this walk's own memory); the heaps of glibc's malloc, chunk by chunk; its large blocks, by the header at
// the start of a page; pymalloc's pools, by their headers; at last what live objects claim
// (heap/account/claims.c), for memory of other allocators. A live block of malloc belongs to the object that
// claims memory in it. What nothing explains is a gap, told with its range and the library whose data points
// into it.
//
// Every piece counts with the pages of it that are resident (PAGEMAP_SCAN), so that the pieces of a mapping
// add up to at most its Rss in smaps; the caller compares. Chunks that lie in fast bins look live: their
// bytes are told apart, by arena. Other threads may allocate meanwhile: a walk that meets nonsense ends, and
// the rest of that heap is a gap.
//
// Memory: scratch and arenas, mapped for the walk and unmapped after it. No thread of Python runs meanwhile
// (module/still.h).
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "heap/account/account.h"
#include "memory/addresses.h"
#include "module/still.h"
#include "objects/spans.h"

#define PAGE ((uintptr_t)4096)

static piece_kind block_of_c(const account *a, uintptr_t start, uintptr_t stop) {
    return a->has_r && r_block(&a->view.maps, start, stop) ? PIECE_R : PIECE_BLOCKS;
}

// A block of malloc; a malloc_look.
static void add_block(uintptr_t start, uintptr_t stop, block_state state, void *argument) {
    account *a = argument;
    // The block before may use the first word of this one's header (malloc_chunk.prev_size).
    const claim *by = state == BLOCK_LIVE ? account_claim(a, start + 2 * sizeof(size_t), stop) : NULL;
    piece_kind kind = state == BLOCK_FREE ? PIECE_MALLOC_FREE
                      : !by               ? block_of_c(a, start, stop)
                      : by->kind          ? PIECE_BUFFERS
                                          : PIECE_OBJECTS;
    account_add(a, start, stop, kind, by);
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

// The blocks of a pool one by one: objects may claim them.
static void walk_blocks(account *a, uintptr_t at, const python_pool *pool) {
    account_add(a, at, pool->first, PIECE_PYTHON_FREE, NULL);
    for (size_t i = 0; i < pool->room; i++) {
        uintptr_t start = pool->first + i * pool->block_bytes, stop = start + pool->block_bytes;
        int is_live = pool->live[i / 64] >> i % 64 & 1;
        const claim *by = is_live ? account_claim(a, start, stop) : NULL;
        account_add(a, start, stop,
                    !is_live   ? PIECE_PYTHON_FREE
                    : !by      ? PIECE_BLOCKS
                    : by->kind ? PIECE_BUFFERS
                               : PIECE_OBJECTS,
                    by);
    }
    account_add(a, pool->first + pool->room * pool->block_bytes, pool->stop, PIECE_PYTHON_FREE, NULL);
}

// Where the pool that begins here ends, or 0.
static UNSANITIZED uintptr_t walk_pool(account *a, uintptr_t at) {
    python_pool pool;
    if (!python_pool_at(&a->python, at, a->map->stop, &pool)) {
        return 0;
    }
    a->pools++;
    a->pool_blocks += pool.blocks;
    if (pool.first) {
        walk_blocks(a, at, &pool);
        return pool.stop;
    }
    uint64_t bytes = account_resident(a, at, pool.stop);
    uint64_t live = pool.live_bytes < bytes ? pool.live_bytes : bytes;
    a->bytes[PIECE_OBJECTS] += live;
    a->bytes[PIECE_PYTHON_FREE] += bytes - live;
    return pool.stop;
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
        account_add(a, at, stop, known->kind, NULL);
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
    return walk_pool(a, at);
}

// What is left of a page at `at`: claimed, or a gap.
static uintptr_t walk_rest(account *a, uintptr_t at) {
    uintptr_t page_stop = (at | (PAGE - 1)) + 1;
    const claim *by = account_claim(a, at, page_stop);
    if (!by) {
        account_gap(a, at, page_stop);
        return page_stop;
    }
    if (by->start > at) {
        account_gap(a, at, by->start);
        return by->start;
    }
    uintptr_t stop = by->stop < a->map->stop ? by->stop : a->map->stop;
    account_add(a, at, stop, by->kind ? PIECE_BUFFERS : PIECE_OBJECTS, by);
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
    account_close_gap(a);
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
    size_t most = a->view.static_count + a->view.stack_count + 5;
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
    add_known(a, (uintptr_t)a->python.rows.start, (uintptr_t)a->python.rows.start + a->python.rows.bytes,
              PIECE_OURS);
    add_known(a, (uintptr_t)a->claims.place.start, (uintptr_t)a->claims.place.start + a->claims.place.bytes,
              PIECE_OURS);
    qsort(a->known, a->known_count, sizeof *a->known, addresses_compare);
    return 0;
}

static int prepare(account *a, scratch *memory) {
    a->gaps = (gap_table){scratch_alloc(memory, GAPS_MAX * sizeof(gap)), 0};
    if (!a->gaps.rows || memory_maps_init(&a->view.maps, memory) < 0 ||
        python_pools_init(&a->python, &a->view.maps) < 0 ||
        resident_runs_init(&a->runs, &a->view.maps, memory) < 0 ||
        search_view_memory(&a->view, &a->runs, memory) < 0 || find_known(a, memory) < 0) {
        return PyErr_Occurred() ? -1 : error_no_memory();
    }
    claims_settle(&a->claims);
    a->has_r = r_is_loaded(&a->view.maps);
    return 0;
}

// [(Subject, bytes)] of the largest objects, the largest first. New list.
static PyObject *largest_rows(const account *a, PyObject *subject_type) {
    _owned_ PyObject *rows = PyList_New(0);
    for (size_t i = ACCOUNT_LARGEST; rows && i-- > 0 && a->largest[i].object;) {
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

static PyObject *account_walk(account *a, PyObject *module, PyObject *ours, PyObject *told,
                              interrupt_watch *ret) {
    _scratch_ scratch memory;
    if (scratch_init(&memory, SCRATCH_BYTES) < 0) {
        return PyErr_NoMemory();
    }
    memory_guard_arm();
    int is_ready = claims_collect(&a->claims, ours, ret) == 0 && claims_add_told(&a->claims, told) == 0;
    PyObject *rows = is_ready ? account_rows(a, module, &memory) : NULL; // owned
    memory_guard_disarm();
    python_pools_deinit(&a->python);
    claims_deinit(&a->claims);
    tally_deinit(&a->large[CLAIM_OBJECT]);
    tally_deinit(&a->large[CLAIM_BUFFER]);
    return rows;
}

// What the kernel says follows at once, without the walk's own memory: both are of one moment.
static PyObject *account_still(PyObject *module, PyObject *ours, PyObject *told, interrupt_watch *ret) {
    _owned_ PyObject *room = mappings_room();
    _still_ int began = still_begin();
    account a = {.failed = 0};
    PyObject *rows = room ? account_walk(&a, module, ours, told, ret) : NULL; // owned
    return rows ? Py_BuildValue("NN", rows, mappings_smaps(take(room))) : NULL;
}

static PyObject *account_take(PyObject *module, PyObject *args) {
    PyObject *ours, *told; // borrowed
    if (!PyArg_ParseTuple(args, "O!O!:account", &PyTuple_Type, &ours, &PyTuple_Type, &told)) {
        return NULL;
    }
    interrupt_watch watch = {0, 0};
    edges_prepare();
    spans_prepare();
    PyObject *found = account_still(module, ours, told, &watch); // owned
    if (!found && !PyErr_Occurred()) {
        interrupt_raise(&watch);
    }
    return found;
}

PART_FUNCTIONS(account, {"account", account_take, METH_VARARGS, NULL})
