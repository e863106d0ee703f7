// Finds leaked blocks of leaks/raw_memory/followed.c: one search of memory for pointers into all of them.
//
// The rule is that of Valgrind's leak check (mc-manual, "Memory leak detection"). A pointer to the start or
// the inside of a block reaches it, if it lies in readable memory, or in a block that is itself reached.
// Blocks that only lost blocks point to are lost with them. A pointer one past the end counts too: often only
// the end of an array is kept. Memory that search/places.c knows to be dead does not count: freed memory,
// frames that have returned, stacks below the stack pointer; nor our own memory; nor the main thread's stack,
// if the caller runs on it: its frames began before the code under test, or have returned, and left stale
// words in the gaps of later frames.
//
// A block that was freed where no hook saw it (getline, inside libc) is recognised by its chunk and left out.
//
// Limits. EDGES_MAX pointers from block to block; blocks beyond that count as reached. Pointers are words at
// multiples of eight; packed.c finds others in the blocks, disguised.c other forms of an address.
// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#define INSPECTOR_INTERNALS
#include "leaks/raw_memory/followed.h"
#include "leaks/raw_memory/search_parts.h"
#include "memory/addresses.h"
#include "memory/memory.h"
#include "module/platform.h"
#include "search/holders.h"
#include "trace/record/stacks.h"

#include <link.h>

enum { BLOCKS_MAX = 1 << 19, TRACED_EACH = 4, LOST = LEAK_LOST, REACHED = LEAK_REACHED };
enum { LOST_WITH = LEAK_LOST_WITH, UNASSIGNED = LEAK_UNASSIGNED, EDGES_MAX = LEAK_EDGES_MAX };
// Beside place_kind: found in disguise; searched for in disguise, but lost; lost and not searched for.
enum { DISGUISED = PLACE_UNKNOWN + 1, TRACED, UNTRACED };

static int by_address(const void *a, const void *b) {
    uintptr_t x = ~((const raw_memory_block *)a)->hidden, y = ~((const raw_memory_block *)b)->hidden;
    return (x > y) - (x < y);
}

// The block that contains a word; -1: none. A needle extends to one past the end of its block.
static ptrdiff_t block_with(const leak_search *h, uintptr_t word) {
    ptrdiff_t at = ranges_at(h->needles, h->count, word);
    return at >= 0 && word - h->needles[at].start < h->blocks[at].bytes ? at : -1;
}

static int by_number(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void reach(leak_search *h, uint32_t block, uintptr_t word, int kind) {
    h->reach[block] = REACHED;
    h->word[block] = word;
    h->kind[block] = (uint8_t)kind;
}

// The data of glibc. Not found by `malloc`: in an executable that is no PIE its address is a PLT entry.
static int find_arena(struct dl_phdr_info *object, size_t size, void *ret) {
    int is_libc = 0;
    scan_range data = {0, 0};
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_W) {
            data = (scan_range){start, start + segment->p_memsz};
        } else if (segment->p_type == PT_LOAD) {
            is_libc |= PLATFORM_IN_GLIBC - start < segment->p_memsz;
        }
    }
    if (is_libc) {
        *(scan_range *)ret = data;
    }
    return is_libc;
}

// Whether a pointer means glibc's next chunk, whose header begins eight bytes before the usable end of the
// block. Free lists link to that address; an unwritten block from such a list begins with two links.
static int is_next_chunk(const leak_search *h, const scan_hit *hit, const place *found) {
    uintptr_t used = (h->blocks[hit->needle].bytes + 8 + 15) & ~(uintptr_t)15;
    uintptr_t next = h->needles[hit->needle].start - 16 + (used < 32 ? 32 : used);
    int is_in_arena = hit->word >= h->arena.start && hit->word < h->arena.stop;
    int is_link = found->block.start && hit->word - found->block.start < 16;
    return hit->value == next && (is_in_arena || is_link || found->kind == PLACE_UNKNOWN);
}

// The allocator's own words: its top, its last remainder, its lists.
static int is_of_allocator(const leak_search *h, uintptr_t word) {
    uintptr_t arena = h->s.view.malloc.main_arena;
    return arena && word - arena < MALLOC_ARENA_BYTES;
}

static void take_hit(leak_search *h, const scan_hit *hit) {
    place found;
    ptrdiff_t from = block_with(h, hit->word);
    if (h->reach[hit->needle] == REACHED || from == (ptrdiff_t)hit->needle) {
        return;
    }
    if (from >= 0 && h->edge_count < EDGES_MAX) {
        h->edges[h->edge_count++] = (block_edge){(uint32_t)from, hit->needle};
        return;
    }
    int is_on_own_stack = hit->word >= h->own_stack.start && hit->word < h->own_stack.stop;
    if (is_on_own_stack || is_of_allocator(h, hit->word)) {
        return;
    }
    search_place_guarded(&h->s, hit->word, &found);
    uintptr_t start = h->needles[hit->needle].start;
    scan_range requested = {start, start + h->blocks[hit->needle].bytes};
    if (is_next_chunk(h, hit, &found) || raw_memory_is_slack_of(requested, &found, hit->word)) {
        return;
    }
    if (raw_memory_is_kept_by(&h->s.view, &found, hit->word)) {
        reach(h, hit->needle, hit->word, found.kind == PLACE_STALE ? PLACE_OBJECT : found.kind);
    }
}

static int take_hits(search *s, const scan_hit *hits, size_t count) {
    for (size_t i = 0; i < count; i++) {
        take_hit((leak_search *)s, &hits[i]);
    }
    return 0;
}

// The first edge from a block: edges are sorted by address.
static size_t first_edge(const leak_search *h, uint32_t from) {
    size_t low = 0, high = h->edge_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (h->edges[middle].from < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Follows edges from the waiting blocks to the end: all become reached, or lost with them.
static void follow_edges(leak_search *h, int is_reached) {
    while (h->waiting_count) {
        uint32_t from = h->waiting[--h->waiting_count];
        for (size_t i = first_edge(h, from); i < h->edge_count && h->edges[i].from == from; i++) {
            uint32_t to = h->edges[i].to;
            if (is_reached ? h->reach[to] == REACHED : h->reach[to] != UNASSIGNED) {
                continue;
            }
            h->reach[to] = LOST_WITH;
            if (is_reached) {
                reach(h, to, h->needles[from].start, PLACE_BLOCK);
            }
            h->waiting[h->waiting_count++] = to;
        }
    }
}

static void spread_reached(leak_search *h) {
    for (uint32_t i = 0; i < h->count && h->edge_count; i++) {
        if (h->reach[i] == REACHED) {
            h->waiting[h->waiting_count++] = i;
        }
    }
    follow_edges(h, 1);
}

static void follow(leak_search *h, uint32_t root) {
    h->reach[root] = LOST;
    h->waiting[h->waiting_count++] = root;
    follow_edges(h, 0);
}

// Splits lost blocks into those that others lead to, which are reported with them, and the rest: first blocks
// that no other leads to, then one of each cycle.
static void split_lost(leak_search *h) {
    for (size_t i = 0; i < h->edge_count; i++) {
        block_edge edge = h->edges[i];
        if (h->reach[edge.from] != REACHED && h->reach[edge.to] != REACHED) {
            h->reach[edge.to] = UNASSIGNED;
        }
    }
    for (uint32_t i = 0; i < h->count; i++) {
        if (h->reach[i] == LOST && h->edge_count) {
            follow(h, i);
        }
    }
    for (uint32_t i = 0; i < h->count; i++) {
        if (h->reach[i] == UNASSIGNED) {
            follow(h, i);
        }
    }
}

int leak_search_prepare(leak_search *h, PyObject *module, PyObject *leave_out, PyObject *own_prefix,
                        uintptr_t frame, scratch *memory) {
    scan_range *left_out;
    size_t count;
    h->s.hits = scratch_alloc(memory, SCAN_SLICE_WORDS * sizeof *h->s.hits);
    dl_iterate_phdr(find_arena, &h->arena);
    h->s.view.subject_type = native_get_state(module)->subject_type;
    if (scan_ranges_parse(leave_out, memory, SCAN_OWN_RANGES, &left_out, &count) < 0) {
        return -1;
    }
    if (!h->s.hits || memory_maps_init(&h->s.view.maps, memory) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    const memory_map *stack = memory_maps_find(&h->s.view.maps, frame);
    if (stack && stack->path_length == 7 && memcmp(stack->path, "[stack]", 7) == 0) {
        h->own_stack = (scan_range){frame, stack->stop};
    }
    count += scan_ranges_own(left_out + count, &h->s.view.maps, memory, frame);
    if (scan_runs_init(&h->s.runs, &h->s.view.maps, left_out, count, memory) < 0 ||
        search_view_init(&h->s.view, &h->s.runs, memory, own_prefix) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

// Copies the blocks by address, with a needle each: to one past its end, but not into the next block.
static int blocks_take(leak_search *h, scratch *memory) {
    size_t most = raw_memory_count < BLOCKS_MAX ? raw_memory_count : BLOCKS_MAX;
    h->blocks = scratch_alloc(memory, (most + 1) * sizeof *h->blocks);
    h->needles = scratch_alloc(memory, (most + 1) * sizeof *h->needles);
    h->reach = scratch_alloc(memory, most + 1);
    h->kind = scratch_alloc(memory, most + 1);
    h->word = scratch_alloc(memory, (most + 1) * sizeof *h->word);
    h->waiting = scratch_alloc(memory, (most + 1) * sizeof *h->waiting);
    h->edges = scratch_alloc(memory, EDGES_MAX * sizeof *h->edges);
    if (!h->blocks || !h->needles || !h->reach || !h->kind || !h->word || !h->waiting || !h->edges) {
        PyErr_NoMemory();
        return -1;
    }
    h->count = raw_memory_copy(h->blocks, most);
    addresses_sort(h->blocks, h->count, sizeof *h->blocks, by_address);
    for (size_t i = 0; i < h->count; i++) {
        uintptr_t start = ~h->blocks[i].hidden, stop = start + h->blocks[i].bytes + 1;
        uintptr_t next = i + 1 < h->count ? ~h->blocks[i + 1].hidden : UINTPTR_MAX;
        h->needles[i] = (scan_range){start, stop < next ? stop : next};
    }
    return 0;
}

static const char *kind_name(int kind) {
    static const char *const names[] = {[PLACE_OBJECT] = "object", [PLACE_BLOCK] = "block",
                                        [PLACE_FRAME] = "frame",   [PLACE_STATIC] = "static",
                                        [PLACE_STACK] = "stack",   [PLACE_MAPPING] = "mapping",
                                        [DISGUISED] = "disguised", [UNTRACED] = "untraced"};
    const char *name = (size_t)kind < sizeof names / sizeof *names ? names[kind] : NULL;
    return name ? name : "";
}

static int is_alive(void *context, uintptr_t word) {
    leak_search *h = context;
    place found;
    int is_on_own_stack = word >= h->own_stack.start && word < h->own_stack.stop;
    if (is_on_own_stack || is_of_allocator(h, word) || block_with(h, word) >= 0) {
        return 0; // pointers in followed blocks are edges already; other forms there do not count
    }
    search_place_guarded(&h->s, word, &found);
    return raw_memory_is_kept_by(&h->s.view, &found, word);
}

// Chooses some lost blocks of each allocation site, as many as fit, by address.
static void choose_disguised(leak_search *h, disguise_search *t, uint8_t chosen[UINT16_MAX + 1]) {
    for (uint8_t round = 0; round < TRACED_EACH && t->count < DISGUISE_MAX; round++) {
        for (size_t i = 0; i < h->count && t->count < DISGUISE_MAX; i++) {
            uint8_t *at_site = &chosen[h->blocks[i].stack];
            if (h->reach[i] == LOST && h->kind[i] != TRACED && *at_site == round) {
                ++*at_site;
                h->kind[i] = TRACED;
                t->numbers[t->count++] = i;
            }
        }
    }
    addresses_sort(t->numbers, t->count, sizeof *t->numbers, by_number);
    for (size_t n = 0; n < t->count; n++) {
        t->blocks[n] = h->needles[t->numbers[n]];
    }
}

// A block found in disguise stands for those of its allocation site that were not searched for. A block that
// was searched for and not found is lost: a number may be an address by chance (an old id()).
static void take_disguised(leak_search *h, const disguise_search *t, size_t n) {
    uint32_t stack = h->blocks[t->numbers[n]].stack;
    for (size_t i = 0; i < h->count; i++) {
        int is_same_site = h->blocks[i].stack == stack && (h->kind[i] != TRACED || i == t->numbers[n]);
        if (is_same_site && h->reach[i] == LOST) {
            reach(h, (uint32_t)i, t->words[n], DISGUISED);
        }
    }
}

// Searches in disguise for a few lost blocks of each allocation site.
static int search_disguised(leak_search *h, scratch *memory) {
    disguise_search *t = scratch_alloc(memory, sizeof *t);
    uint8_t *chosen = scratch_alloc(memory, UINT16_MAX + 1);
    if (!t || !chosen) {
        PyErr_NoMemory();
        return -1;
    }
    *t = (disguise_search){.is_alive = is_alive, .context = h};
    choose_disguised(h, t, chosen);
    if (raw_memory_disguised(t, &h->s.runs) < 0) {
        interrupt_raise(&t->watch);
        return -1;
    }
    for (size_t i = 0; i < h->count; i++) {
        int is_untraced = h->reach[i] == LOST && !chosen[h->blocks[i].stack];
        h->kind[i] = is_untraced ? UNTRACED : h->kind[i];
    }
    for (size_t n = 0; n < t->count; n++) {
        if (t->words[n]) {
            take_disguised(h, t, n);
        }
    }
    spread_reached(h);
    return 0;
}

static PyObject *row_of(leak_search *h, size_t i, int is_allocated) {
    const raw_memory_block *block = &h->blocks[i];
    _owned_ PyObject *frames = stacks_frames_of(block->stack);
    return frames ? Py_BuildValue("(KKiiIOIiIiiKs)", (unsigned long long)~block->hidden,
                                  (unsigned long long)block->bytes, (int)block->run, (int)block->function,
                                  (unsigned)block->stack, frames, block->code, (int)block->lasti,
                                  block->method, (int)h->reach[i], is_allocated,
                                  (unsigned long long)h->word[i], kind_name(h->kind[i]))
                  : NULL;
}

static PyObject *rows_of(leak_search *h) {
    _owned_ PyObject *rows = PyList_New(0);
    for (size_t i = 0; rows && i < h->count; i++) {
        int is_allocated = h->reach[i] == REACHED ? 1 : raw_memory_is_live(&h->s, &h->blocks[i]);
        _owned_ PyObject *row = is_allocated ? row_of(h, i, is_allocated) : NULL;
        if (is_allocated && (!row || PyList_Append(rows, row) < 0)) {
            return NULL;
        }
    }
    return take(rows);
}

static int run_search(leak_search *h, PyObject *module, PyObject *leave_out, PyObject *own_prefix,
                      uintptr_t frame, scratch *memory) {
    if (blocks_take(h, memory) < 0 ||
        leak_search_prepare(h, module, leave_out, own_prefix, frame, memory) < 0) {
        return -1;
    }
    if (search_scan(&h->s, &h->s.runs, h->needles, h->count, take_hits) < 0) {
        interrupt_raise(&h->s.watch);
        return -1;
    }
    spread_reached(h);
    if (raw_memory_packed(h)) {
        spread_reached(h);
    }
    split_lost(h);
    return search_disguised(h, memory);
}

static PyObject *raw_memory_search(PyObject *module, PyObject *args) {
    PyObject *leave_out, *own_prefix; // borrowed
    if (!PyArg_ParseTuple(args, "OU:raw_memory_search", &leave_out, &own_prefix)) {
        return NULL;
    }
    _scratch_ scratch memory = {0};
    leak_search *h = scratch_init(&memory, SCRATCH_BYTES) < 0 ? NULL : scratch_alloc(&memory, sizeof *h);
    if (!h) {
        return PyErr_NoMemory();
    }
    memory_guard_arm();
    int status = run_search(h, module, leave_out, own_prefix, (uintptr_t)__builtin_frame_address(0), &memory);
    PyObject *rows = status < 0 ? NULL : rows_of(h); // new
    memory_guard_disarm();
    return rows ? Py_BuildValue("(NKK)", rows, h->s.scanned_bytes, h->s.scan_ns) : NULL;
}

static PyMethodDef raw_memory_search_methods[] = {
    {"raw_memory_search", raw_memory_search, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int raw_memory_search_exec(PyObject *module) {
    return PyModule_AddFunctions(module, raw_memory_search_methods);
}
