// The table of live blocks that chosen modules allocated outside Python objects.
//
// Overview. Hooks report each allocation (leaks/raw_memory/hooks.c, leaks/frees.c) and each free, by any code
// (leaks/freeing.c, leaks/frees.c). leaks/raw_memory/search.c searches for pointers to the blocks left at the
// end. A row keeps where the block was allocated: the native frames, the Python line, the call from Python.
//
// Addresses are stored inverted, so that the table looks like no owner. Rows are in one open-addressing table
// that doubles; deletion shifts rows back. Most freed blocks are not in the table: a filter, one bit per
// hash, set until the table closes, passes them without the lock.
//
// Unwinding costs microseconds, so it is done once for each path to a hook. A path is identified by the stack
// pointer and the stack words that point into code of the chosen modules. Paths with equal words get the
// frames of the first.
//
// Safety. Hooks run in any thread, with and without the GIL. A spin lock guards the rows; it is held for tens
// of instructions, and only mmap is called under it. pthread_atfork keeps it consistent in a child.
//
// Limits. ROWS_MAX blocks; more are counted. raw_memory_close() frees the memory.
// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "leaks/raw_memory/followed.h"
#include "memory/memory.h"
#include "trace/record/record.h"
#include "trace/record/ring.h"
#include "trace/record/stacks.h"

#include <pthread.h>
#include <sched.h>

enum { ROWS_FIRST = 1 << 12, ROWS_MAX = 1 << 20, TEXTS_MAX = 512 };
enum { PATHS = 1 << 12, PATH_WORDS = 64, PATH_WORDS_MIN = 32, NUMBER_BITS = 16, PAGE_BYTES = 4096 };
enum { FILTER_LOG2 = 18 };

uint32_t raw_memory_count;
uint8_t raw_memory_is_handing;
static arena memory;
static raw_memory_block *rows;
static size_t capacity;
static uint64_t filter[1 << FILTER_LOG2 >> 6];
static uint64_t paths[PATHS];               // hash of a path, with the number of its stack in the low bits
static scan_range texts[TEXTS_MAX], around; // code of the chosen modules; the range around it
static size_t text_count;
static int is_open, lock;
static uint8_t run; // 0: allocations are not recorded
static uint64_t dropped;
static uintptr_t last_block; // inverted: the last one of a Python domain, under the GIL
static size_t last_bytes;

static void lock_take(void) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
}

static void lock_give(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

static uint64_t hash_of(uintptr_t address) { return (address >> 4) * 0x9E3779B97F4A7C15ULL; }

static size_t home_of(uintptr_t address, size_t size) { return (hash_of(address) >> 24) & (size - 1); }

static raw_memory_block *place_of(raw_memory_block *table, size_t size, uintptr_t address) {
    size_t at = home_of(address, size);
    while (table[at].hidden && table[at].hidden != ~address) {
        at = (at + 1) & (size - 1);
    }
    return &table[at];
}

static int make_room(void) {
    size_t size = capacity ? capacity * 2 : ROWS_FIRST;
    arena wider = {NULL, 0};
    if (size > ROWS_MAX || arena_resize(&wider, size * sizeof *rows) < 0) {
        return -1;
    }
    for (size_t i = 0; i < capacity; i++) {
        if (rows[i].hidden) {
            *place_of(wider.start, size, ~rows[i].hidden) = rows[i];
        }
    }
    arena_deinit(&memory);
    memory = wider;
    rows = memory.start;
    capacity = size;
    return 0;
}

static void put(const raw_memory_block *block) {
    if ((raw_memory_count + 1) * 2 > capacity && make_room() < 0) {
        dropped++;
        return;
    }
    raw_memory_block *row = place_of(rows, capacity, ~block->hidden);
    raw_memory_count += !row->hidden; // else an earlier block was freed unseen
    *row = *block;
}

static int take_out(uintptr_t address, raw_memory_block *ret) {
    raw_memory_block *row = capacity ? place_of(rows, capacity, address) : NULL;
    if (!row || !row->hidden) {
        return 0;
    }
    *ret = *row;
    raw_memory_count--;
    size_t hole = (size_t)(row - rows);
    for (size_t at = (hole + 1) & (capacity - 1); rows[at].hidden; at = (at + 1) & (capacity - 1)) {
        size_t home = home_of(~rows[at].hidden, capacity);
        if (((at - home) & (capacity - 1)) >= ((at - hole) & (capacity - 1))) {
            rows[hole] = rows[at];
            hole = at;
        }
    }
    rows[hole].hidden = 0;
    return 1;
}

static uint32_t filter_bit(const void *block) {
    return (uint32_t)(hash_of((uintptr_t)block) >> (64 - FILTER_LOG2));
}

static int may_be_known(const void *block) {
    uint32_t bit = filter_bit(block);
    return (int)(__atomic_load_n(&filter[bit / 64], __ATOMIC_RELAXED) >> bit % 64 & 1);
}

int raw_memory_is_chosen(uintptr_t from) {
    if (from - around.start >= around.stop - around.start) {
        return 0;
    }
    for (size_t i = 0; i < text_count; i++) {
        if (from >= texts[i].start && from < texts[i].stop) {
            return 1;
        }
    }
    return 0;
}

// The number of the native stack. `frame`: address of the return address; the words above it on its page are
// mapped and identify the path. If they are few, the stack is always unwound.
static __attribute__((no_sanitize("address"))) uint16_t frames_of(const void *frame) {
    const uintptr_t *words = frame;
    uint64_t hash = (uintptr_t)frame;
    uintptr_t left = (PAGE_BYTES - (uintptr_t)frame % PAGE_BYTES) / sizeof *words;
    if (left < PATH_WORDS_MIN) {
        return (uint16_t)stacks_take();
    }
    for (uintptr_t i = 0; i < left && i < PATH_WORDS; i++) {
        if (words[i] - around.start < around.stop - around.start) {
            hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15ULL;
            hash ^= hash >> 29;
        }
    }
    uint64_t *path = &paths[(hash >> 20) % PATHS], known = __atomic_load_n(path, __ATOMIC_RELAXED);
    if (known && (known ^ hash) >> NUMBER_BITS == 0) {
        return (uint16_t)known;
    }
    uint16_t number = (uint16_t)stacks_take();
    __atomic_store_n(path, hash >> NUMBER_BITS << NUMBER_BITS | number, __ATOMIC_RELAXED);
    return number;
}

// Every block has at least one word, whatever was requested; AddressSanitizer would reject the read.
static __attribute__((no_sanitize("address"))) uintptr_t first_of(const void *block) {
    return *(const uintptr_t *)block;
}

void raw_memory_allocated(int function, const void *block, size_t bytes, const void *frame) {
    if (!block || !run || ring_here.quiet) {
        return;
    }
    raw_memory_block row = {
        .hidden = ~(uintptr_t)block, .bytes = bytes, .run = run, .function = (uint16_t)function};
    row.hidden_first = ~first_of(block);
    row.stack = frames_of(frame);
    if (running_has_gil()) {
        running_place place = running_where_held();
        row.code = place.code;
        row.lasti = place.lasti;
        row.method = ring_here.method;
    }
    uint32_t bit = filter_bit(block);
    __atomic_fetch_or(&filter[bit / 64], 1ULL << bit % 64, __ATOMIC_RELAXED);
    lock_take();
    put(&row);
    lock_give();
}

int raw_memory_follows(uintptr_t from) { return run && !ring_here.quiet && raw_memory_is_chosen(from); }

void raw_memory_domain_allocated(int function, const void *block, size_t bytes, const void *frame,
                                 int follows) {
    last_block = ~(uintptr_t)block;
    last_bytes = bytes;
    if (__builtin_expect(follows, 0)) {
        raw_memory_allocated(function, block, bytes, frame);
    }
}

void raw_memory_hand_begin(void) { raw_memory_is_handing = run != 0; }

void raw_memory_handed_over(int row, const void *block, const void *frame) {
    lock_take();
    int known = capacity && place_of(rows, capacity, (uintptr_t)block)->hidden;
    lock_give();
    if (!known) {
        size_t bytes = last_block == ~(uintptr_t)block ? last_bytes : 0;
        raw_memory_allocated(RAW_MEMORY_FUNCTIONS + row, block, bytes, frame);
    }
}

int raw_memory_take(const void *block, raw_memory_block *ret) {
    if (!raw_memory_count || !block || !may_be_known(block)) {
        return 0;
    }
    lock_take();
    int known = take_out((uintptr_t)block, ret);
    lock_give();
    return known;
}

void raw_memory_freed_slow(const void *block) {
    raw_memory_block unused;
    raw_memory_take(block, &unused);
}

void raw_memory_settle(const void *block) {
    if (!raw_memory_count || !block || !may_be_known(block)) {
        return;
    }
    lock_take();
    raw_memory_block *row = capacity ? place_of(rows, capacity, (uintptr_t)block) : NULL;
    if (row && row->hidden) {
        row->method = 0;
    }
    lock_give();
}

void raw_memory_put(const raw_memory_block *taken, const void *block, size_t bytes) {
    raw_memory_block row = *taken;
    row.hidden = ~(uintptr_t)block;
    row.hidden_first = ~first_of(block);
    row.bytes = bytes;
    uint32_t bit = filter_bit(block);
    __atomic_fetch_or(&filter[bit / 64], 1ULL << bit % 64, __ATOMIC_RELAXED);
    lock_take();
    put(&row);
    lock_give();
}

// Removed before the move: then another thread may get the old address.
void *raw_memory_moved(const PyMemAllocatorEx *domain, void *context, void *block, size_t bytes) {
    raw_memory_block taken;
    int known = raw_memory_take(block, &taken);
    void *moved = domain->realloc(context, block, bytes);
    if (known) {
        raw_memory_put(&taken, moved ? moved : block, moved ? bytes : taken.bytes);
    }
    return moved;
}

size_t raw_memory_copy(raw_memory_block *ret, size_t most) {
    size_t copied = 0;
    lock_take();
    for (size_t i = 0; i < capacity && copied < most; i++) {
        if (rows[i].hidden) {
            ret[copied++] = rows[i];
        }
    }
    lock_give();
    return copied;
}

int raw_memory_has(const raw_memory_block *copy) {
    lock_take();
    const raw_memory_block *row = capacity ? place_of(rows, capacity, ~copy->hidden) : NULL;
    int is_same = row && row->hidden && row->bytes == copy->bytes && row->stack == copy->stack;
    lock_give();
    return is_same;
}

int raw_memory_is_open(void) { return is_open; }

void raw_memory_ranges(scan_range ret[1]) {
    ret[0] = (scan_range){(uintptr_t)memory.start, (uintptr_t)memory.start + memory.bytes};
}

void raw_memory_text_add(scan_range text) {
    for (size_t i = 0; i < text_count; i++) {
        if (texts[i].start == text.start) {
            return;
        }
    }
    if (text_count < TEXTS_MAX) {
        texts[text_count++] = text;
        around.start = around.start && around.start < text.start ? around.start : text.start;
        around.stop = around.stop > text.stop ? around.stop : text.stop;
    }
}

static void forget(void) {
    run = 0;
    lock_take();
    arena_deinit(&memory);
    rows = NULL;
    capacity = raw_memory_count = 0;
    lock_give();
    memset(filter, 0, sizeof filter);
    memset(paths, 0, sizeof paths);
    text_count = 0;
    around = (scan_range){0, 0};
    dropped = 0;
}

static PyObject *raw_memory_open(PyObject *module, PyObject *unused) {
    static int has_atfork;
    if (is_open) {
        PyErr_SetString(PyExc_RuntimeError, "raw memory is already recorded");
        return NULL;
    }
    if (!has_atfork && pthread_atfork(lock_take, lock_give, lock_give) == 0) {
        has_atfork = 1;
    }
    forget();
    if (stacks_prepare() < 0) {
        return NULL;
    }
    is_open = 1;
    Py_RETURN_NONE;
}

static PyObject *raw_memory_run(PyObject *module, PyObject *number) {
    long number_wanted = PyLong_AsLong(number);
    if (number_wanted < 0 || number_wanted > UINT8_MAX) {
        PyErr_SetString(PyExc_ValueError, "a run is a number from 0 to 255");
        return NULL;
    }
    if (is_open && number_wanted == 1) { // before later ones it might hold what an unseen free gave back
        raw_memory_fresh_want();
    }
    run = is_open ? (uint8_t)number_wanted : 0;
    return PyLong_FromUnsignedLong(raw_memory_count);
}

static PyObject *raw_memory_close(PyObject *module, PyObject *unused) {
    is_open = 0;
    raw_memory_fresh_end();
    uint64_t left_out = dropped;
    forget();
    return PyLong_FromUnsignedLongLong(left_out);
}

static PyMethodDef raw_memory_methods[] = {
    {"raw_memory_open", raw_memory_open, METH_NOARGS, NULL},
    {"raw_memory_run", raw_memory_run, METH_O, NULL},
    {"raw_memory_close", raw_memory_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int raw_memory_exec(PyObject *module) {
#define RAW_MEMORY_NAME(name, ...) #name,
    static const char *const names[] = {RAW_MEMORY_IMPORTED(RAW_MEMORY_NAME)
                                            RAW_MEMORY_OTHERS(RAW_MEMORY_NAME)};
#undef RAW_MEMORY_NAME
    return names_add(module, "RAW_MEMORY_FUNCTIONS", names, RAW_MEMORY_FUNCTIONS) < 0
               ? -1
               : PyModule_AddFunctions(module, raw_memory_methods);
}
