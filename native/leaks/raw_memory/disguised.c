// Disguised addresses: forms in which code may keep the address of a block without a plain pointer.
//
// A block whose address is in no aligned word may still be in use. A Python int is a handle, a packed struct
// has its pointer at any byte, tagged pointers use their upper bits, others are stored inverted, shifted, or
// as text. So before a block is reported as lost, all of memory is searched once more, byte by byte, for
// these forms. A match in live memory reaches the block.
//
// Cost. leaks/raw_memory/filter.c skips bytes that match no form, and the search runs only if blocks are
// lost. Memory is read in slices: a signal ends the search between two; one that faults is read by pages.
//
// Limits: an address that is combined with a secret (xor) or split over two words is not found, nor one that
// only the kernel knows (Python keeps those of an epoll as ints, kept_by_kernel.py). Memory that is mapped
// shared from a file, or read-only, is not searched.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/raw_memory/search_parts.h"
#include "memory/addresses.h"
#include "memory/memory.h"

#define SLICE_BYTES ((uintptr_t)1 << 20)
#define PAGE_BYTES ((uintptr_t)4096)

enum { DIGIT_WIDTH = 30, USED_BITS = 48, WORD = sizeof(uint64_t) };

typedef struct {
    disguise_search *of;
    const char *at, *stop; // range of the words to decode, each with its neighbour
    int is_end;            // nothing behind `stop` may be read
} disguise_walk;

// The value of two digits of a Python int, 30 bits each. 0 if they are none, or one digit.
static uint64_t digits_of(uint64_t word) {
    const uint64_t digit = (1ULL << DIGIT_WIDTH) - 1, both = digit | digit << 32;
    return word & ~both || !(word >> 32) ? 0 : (word & digit) | (word >> 32) << DIGIT_WIDTH;
}

static void match_block(disguise_search *t, uint64_t value, uintptr_t word, int is_exact) {
    ptrdiff_t block = value - t->low < t->span ? ranges_at(t->blocks, t->count, value) : -1;
    if (block < 0 || t->words[block] || (is_exact && value != t->blocks[block].start)) {
        return;
    }
    if (t->is_alive(t->context, word)) {
        t->words[block] = word;
    }
}

// In a low heap (a program that is no PIE) addresses are small: parts of words, and pairs of small numbers,
// match the inside of some block in every process. There only the start of a block counts.
static void match(disguise_search *t, uint64_t value, uintptr_t word, int is_exact) {
    match_block(t, value, word, is_exact || value <= UINT32_MAX);
}

// The last eight hexadecimal digits of an address, as a word.
static uint64_t hexadecimal(uint64_t address) {
    char digits[8];
    for (int i = 7; i >= 0; i--, address >>= 4) {
        digits[i] = "0123456789abcdef"[address & 15];
    }
    uint64_t word;
    memcpy(&word, digits, sizeof word);
    return word;
}

static uint32_t text_bit(uint64_t word) { return (uint32_t)(word * 0x9E3779B97F4A7C15ULL >> 58); }

// Lowercase letters and digits have bit 5 set and bit 7 clear.
static int may_be_text(const disguise_search *t, uint64_t word) {
    return (word & 0xA0A0A0A0A0A0A0A0ULL) == 0x2020202020202020ULL && t->text_filter >> text_bit(word) & 1;
}

static int is_digit(uint8_t byte) { return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f'); }

// An address in a low heap has six or seven digits: what precedes them ("0x") is replaced by zeros.
static uint64_t padded(uint64_t word) {
    int others = !is_digit((uint8_t)(word >> 8)) ? 16 : !is_digit((uint8_t)word) ? 8 : 0;
    uint64_t mask = (1ULL << others) - 1;
    return (word & ~mask) | (0x3030 & mask);
}

static void match_text(disguise_search *t, uint64_t word, uintptr_t at) {
    word = padded(word);
    for (size_t i = 0; i < t->count && may_be_text(t, word); i++) {
        if (word == t->texts[i] && !t->words[i] && t->is_alive(t->context, at & ~(uintptr_t)7)) {
            t->words[i] = at;
        }
    }
}

// An int below 2**30 has one digit of 4 bytes; the 4 bytes behind it are never written.
static __attribute__((no_sanitize("address"))) void match_digit(disguise_search *t, uint64_t word,
                                                                uintptr_t at) {
    uint64_t digit = word & UINT32_MAX;
    uintptr_t type = at - COMPAT_INT_HEAD + offsetof(PyObject, ob_type);
    if (digit - t->low < t->span && *(const volatile uintptr_t *)type == (uintptr_t)&PyLong_Type) {
        match_block(t, digit, at, 0);
    }
}

// Decodes a word and the seven bytes behind it, from a copy; `at` is its address.
static void decode(disguise_search *t, const char bytes[2 * WORD], uintptr_t at) {
    uint64_t word;
    for (int byte = 1; byte < WORD; byte++) {
        memcpy(&word, bytes + byte, sizeof word);
        match(t, word, at, 0);
        match_text(t, word, at + (uintptr_t)byte);
    }
    memcpy(&word, bytes, sizeof word);
    match_text(t, word, at);
    match(t, digits_of(word), at, 0);
    match_digit(t, word, at);
    match(t, ~word, at, 0);
    match(t, __builtin_bswap64(word), at, 1);
    if (word >> USED_BITS) {
        match(t, word & ((1ULL << USED_BITS) - 1), at, 0);
    }
    for (int i = 0; i < DISGUISE_SHIFTS; i++) {
        match(t, word << disguise_shifts[i], at, 1);
        match(t, word >> disguise_shifts[i], at, 1);
    }
}

static __attribute__((no_sanitize("address"))) void decode_range(disguise_search *t, const char *from,
                                                                 const char *stop) {
    for (; from + 2 * WORD <= stop; from += WORD) {
        decode(t, from, (uintptr_t)from);
    }
}

static __attribute__((no_sanitize("address"))) void decode_last(disguise_search *t, const char *at) {
    const uint64_t words[] = {*(const volatile uint64_t *)at, 0};
    decode(t, (const char *)words, (uintptr_t)at);
}

static void walk(void *argument) {
    disguise_walk *w = argument;
    disguise_search *t = w->of;
    while (t->way != DISGUISE_SLOW) {
        unsigned found = raw_memory_filter_find(&t->filter, &w->at, w->stop);
        if (!found) {
            break;
        }
        for (; found; found &= found - 1) {
            const char *vector = w->at + 32 * __builtin_ctz(found);
            decode_range(t, vector, vector + 32 + WORD);
        }
        w->at += DISGUISE_STEP_BYTES;
    }
    decode_range(t, w->at, w->stop);
    if (w->is_end && w->stop - w->at >= WORD) {
        decode_last(t, w->stop - WORD);
    }
}

// Decodes words from `start` to `stop`; the last one with its neighbour, if that can be read.
static int walk_part(disguise_search *t, uintptr_t start, uintptr_t stop, uintptr_t run_stop) {
    int is_end = stop >= run_stop;
    disguise_walk w = {t, (const char *)start, (const char *)(is_end ? run_stop : stop + WORD), is_end};
    return memory_guarded(walk, &w);
}

// Memory that was unmapped meanwhile holds no owner.
static void walk_pages(disguise_search *t, uintptr_t start, uintptr_t stop, uintptr_t run_stop) {
    for (uintptr_t at = start, next; at < stop; at = next) {
        next = (at & ~(PAGE_BYTES - 1)) + PAGE_BYTES;
        next = next < stop ? next : stop;
        if (walk_part(t, at, next, run_stop) < 0) {
            walk_part(t, at, next, next);
        }
    }
}

static int walk_run(disguise_search *t, scan_range run) {
    uintptr_t stop = run.stop & ~(uintptr_t)(WORD - 1);
    for (uintptr_t at = (run.start + WORD - 1) & ~(uintptr_t)(WORD - 1); at < stop; at += SLICE_BYTES) {
        uintptr_t end = stop - at > SLICE_BYTES ? at + SLICE_BYTES : stop;
        if (interrupt_ask(&t->watch)) {
            return -1;
        }
        if (walk_part(t, at, end, stop) < 0) {
            walk_pages(t, at, end, stop);
        }
    }
    return 0;
}

int raw_memory_disguised(disguise_search *t, const scan_runs *runs) {
    if (!t->count) {
        return 0;
    }
    t->low = t->blocks[0].start;
    t->span = t->blocks[t->count - 1].stop - t->low;
    if (t->low < 1 << 24) {
        t->way = DISGUISE_SLOW; // six digits of text pass the filter unseen
    }
    raw_memory_filter_init(&t->filter, t->blocks, t->count, t->way == DISGUISE_PORTABLE);
    for (size_t i = 0; i < t->count; i++) {
        t->texts[i] = hexadecimal(t->blocks[i].start);
        t->text_filter |= 1ULL << text_bit(t->texts[i]);
    }
    for (size_t i = 0; i < runs->count; i++) {
        if (walk_run(t, runs->rows[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int is_always_alive(void *context, uintptr_t word) { return 1; }

static int by_start(const void *a, const void *b) {
    uintptr_t x = ((const scan_range *)a)->start, y = ((const scan_range *)b)->start;
    return (x > y) - (x < y);
}

static int take_blocks(disguise_search *t, PyObject *blocks /* borrowed */, scratch *memory) {
    scan_range *rows;
    if (scan_ranges_parse(blocks, memory, 0, &rows, &t->count) < 0) {
        return -1;
    }
    if (t->count > DISGUISE_MAX) {
        PyErr_Format(PyExc_ValueError, "%zu blocks: %d at most", t->count, DISGUISE_MAX);
        return -1;
    }
    addresses_sort(rows, t->count, sizeof *rows, by_start);
    memcpy(t->blocks, rows, t->count * sizeof *rows);
    return 0;
}

static PyObject *raw_memory_disguised_python(PyObject *module, PyObject *args) {
    PyObject *blocks, *ranges; // borrowed
    int way;
    _scratch_ scratch memory = {0};
    scan_runs runs = {0};
    if (!PyArg_ParseTuple(args, "OOi:raw_memory_disguised", &blocks, &ranges, &way)) {
        return NULL;
    }
    disguise_search *t = scratch_init(&memory, SCRATCH_BYTES) < 0 ? NULL : scratch_alloc(&memory, sizeof *t);
    if (!t) {
        return PyErr_NoMemory();
    }
    *t = (disguise_search){.is_alive = is_always_alive, .way = way};
    if (take_blocks(t, blocks, &memory) < 0 ||
        scan_ranges_parse(ranges, &memory, 0, &runs.rows, &runs.count) < 0) {
        return NULL;
    }
    memory_guard_arm();
    int status = raw_memory_disguised(t, &runs);
    memory_guard_disarm();
    if (status < 0) {
        interrupt_raise(&t->watch);
        return NULL;
    }
    _owned_ PyObject *words = PyList_New(0);
    for (size_t i = 0; words && i < t->count; i++) {
        _owned_ PyObject *word = PyLong_FromUnsignedLongLong(t->words[i]);
        if (!word || PyList_Append(words, word) < 0) {
            return NULL;
        }
    }
    return take(words);
}

static PyMethodDef raw_memory_disguised_methods[] = {
    {"raw_memory_disguised", raw_memory_disguised_python, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int raw_memory_disguised_exec(PyObject *module) {
    return PyModule_AddFunctions(module, raw_memory_disguised_methods);
}
