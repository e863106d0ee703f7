// Addresses in disguise: what code may keep of a block's address where no plain pointer is left.
//
// A block whose address is nowhere in memory as an aligned word may still be somebody's: a Python int is a
// handle, a packed struct has its pointer at any byte, tagged pointers use their upper bits, others are
// stored inverted, shifted, or as text. So before a block is called lost all of memory is looked through once
// more, byte by byte, for these few forms; what is found in memory that is alive reaches the block.
//
// Cost. leaks/raw_memory/filter.c passes over what cannot be any form; a pass is made for lost blocks only.
// Memory is read in slices: between two a signal ends it, and one that faults is read again page by page.
//
// Limits: an address that is combined with a secret (xor), or split over two words is not seen, nor one
// that the kernel alone knows (of an epoll Python holds them as ints, kept_by_kernel.py); nor is memory
// searched that is mapped shared or read-only from a file.
#define INSPECTOR_INTERNALS
#include "leaks/raw_memory/search_parts.h"
#include "memory/memory.h"

#define SLICE_BYTES ((uintptr_t)1 << 20)
#define PAGE_BYTES ((uintptr_t)4096)

enum { DIGIT_WIDTH = 30, USED_BITS = 48, WORD = sizeof(uint64_t) };

typedef struct {
    traces *of;
    const char *at, *stop; // words that begin here are looked at, with their neighbours
    int is_end;            // nothing may be read behind
} traces_walk;

// Two digits of a Python int, of 30 bits each; 0 where they are none, or where the word is what it is.
static uint64_t digits_of(uint64_t word) {
    const uint64_t digit = (1ULL << DIGIT_WIDTH) - 1, both = digit | digit << 32;
    return word & ~both || !(word >> 32) ? 0 : (word & digit) | (word >> 32) << DIGIT_WIDTH;
}

static void meet_block(traces *t, uint64_t value, uintptr_t word, int is_exact) {
    ptrdiff_t block = value - t->low < t->span ? ranges_at(t->blocks, t->count, value) : -1;
    if (block < 0 || t->words[block] || (is_exact && value != t->blocks[block].start)) {
        return;
    }
    if (t->is_alive(t->context, word)) {
        t->words[block] = word;
    }
}

// In a low heap, as a program has that is no PIE, an address is a number like others: parts of words, and
// pairs of small numbers, name the inside of some block in every process. There a form must name a block's
// start.
static void meet(traces *t, uint64_t value, uintptr_t word, int is_exact) {
    meet_block(t, value, word, is_exact || value <= UINT32_MAX);
}

// The eight last digits of an address in hexadecimal, as a word.
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

// Small letters and digits have bit 5 set, and bit 7 clear.
static int may_be_text(const traces *t, uint64_t word) {
    return (word & 0xA0A0A0A0A0A0A0A0ULL) == 0x2020202020202020ULL && t->text_filter >> text_bit(word) & 1;
}

static int is_digit(uint8_t byte) { return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f'); }

// An address of a low heap has six or seven digits: what stands before them ("0x") becomes zeros.
static uint64_t padded(uint64_t word) {
    int others = !is_digit((uint8_t)(word >> 8)) ? 16 : !is_digit((uint8_t)word) ? 8 : 0;
    uint64_t mask = (1ULL << others) - 1;
    return (word & ~mask) | (0x3030 & mask);
}

static void meet_text(traces *t, uint64_t word, uintptr_t at) {
    word = padded(word);
    for (size_t i = 0; i < t->count && may_be_text(t, word); i++) {
        if (word == t->texts[i] && !t->words[i] && t->is_alive(t->context, at & ~(uintptr_t)7)) {
            t->words[i] = at;
        }
    }
}

// An int below 2**30 has one digit, of 4 bytes; what lies behind it nobody writes.
static __attribute__((no_sanitize("address"))) void meet_digit(traces *t, uint64_t word, uintptr_t at) {
    uint64_t digit = word & UINT32_MAX;
    uintptr_t type = at - COMPAT_INT_HEAD + offsetof(PyObject, ob_type);
    if (digit - t->low < t->span && *(const volatile uintptr_t *)type == (uintptr_t)&PyLong_Type) {
        meet_block(t, digit, at, 0);
    }
}

// A word with the seven bytes behind it, copied from where it stands.
static void look(traces *t, const char bytes[2 * WORD], uintptr_t at) {
    uint64_t word;
    for (int byte = 1; byte < WORD; byte++) {
        memcpy(&word, bytes + byte, sizeof word);
        meet(t, word, at, 0);
        meet_text(t, word, at + (uintptr_t)byte);
    }
    memcpy(&word, bytes, sizeof word);
    meet_text(t, word, at);
    meet(t, digits_of(word), at, 0);
    meet_digit(t, word, at);
    meet(t, ~word, at, 0);
    meet(t, __builtin_bswap64(word), at, 1);
    if (word >> USED_BITS) {
        meet(t, word & ((1ULL << USED_BITS) - 1), at, 0);
    }
    for (int i = 0; i < TRACES_SHIFTS; i++) {
        meet(t, word << traces_shifts[i], at, 1);
        meet(t, word >> traces_shifts[i], at, 1);
    }
}

static __attribute__((no_sanitize("address"))) void look_at(traces *t, const char *from, const char *stop) {
    for (; from + 2 * WORD <= stop; from += WORD) {
        look(t, from, (uintptr_t)from);
    }
}

static __attribute__((no_sanitize("address"))) void look_last(traces *t, const char *at) {
    const uint64_t words[] = {*(const volatile uint64_t *)at, 0};
    look(t, (const char *)words, (uintptr_t)at);
}

static void walk(void *argument) {
    traces_walk *w = argument;
    traces *t = w->of;
    while (t->way != TRACES_SLOW) {
        unsigned found = raw_memory_filter_find(&t->filter, &w->at, w->stop);
        if (!found) {
            break;
        }
        for (; found; found &= found - 1) {
            const char *vector = w->at + 32 * __builtin_ctz(found);
            look_at(t, vector, vector + 32 + WORD);
        }
        w->at += TRACES_STEP_BYTES;
    }
    look_at(t, w->at, w->stop);
    if (w->is_end && w->stop - w->at >= WORD) {
        look_last(t, w->stop - WORD);
    }
}

// Words from `start` to `stop`; the last with its neighbour, where that can be read.
static int walk_part(traces *t, uintptr_t start, uintptr_t stop, uintptr_t run_stop) {
    int is_end = stop >= run_stop;
    traces_walk w = {t, (const char *)start, (const char *)(is_end ? run_stop : stop + WORD), is_end};
    return memory_guarded(walk, &w);
}

// What is gone is no owner.
static void walk_pages(traces *t, uintptr_t start, uintptr_t stop, uintptr_t run_stop) {
    for (uintptr_t at = start, next; at < stop; at = next) {
        next = (at & ~(PAGE_BYTES - 1)) + PAGE_BYTES;
        next = next < stop ? next : stop;
        if (walk_part(t, at, next, run_stop) < 0) {
            walk_part(t, at, next, next);
        }
    }
}

static int walk_run(traces *t, scan_range run) {
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

int raw_memory_disguised(traces *t, const scan_runs *runs) {
    if (!t->count) {
        return 0;
    }
    t->low = t->blocks[0].start;
    t->span = t->blocks[t->count - 1].stop - t->low;
    if (t->low < 1 << 24) {
        t->way = TRACES_SLOW; // six digits of text pass the filter unseen
    }
    raw_memory_filter_init(&t->filter, t->blocks, t->count, t->way == TRACES_PORTABLE);
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

// --- for Python: the search alone, for its tests -----------------------------------------------------

static int is_any(void *context, uintptr_t word) { return 1; }

static int by_start(const void *a, const void *b) {
    uintptr_t x = ((const scan_range *)a)->start, y = ((const scan_range *)b)->start;
    return (x > y) - (x < y);
}

static int take_blocks(traces *t, PyObject *blocks /* borrowed */, scratch *memory) {
    scan_range *rows;
    if (scan_ranges_parse(blocks, memory, 0, &rows, &t->count) < 0) {
        return -1;
    }
    if (t->count > TRACES_MAX) {
        PyErr_Format(PyExc_ValueError, "%zu blocks: %d at most", t->count, TRACES_MAX);
        return -1;
    }
    qsort(rows, t->count, sizeof *rows, by_start);
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
    traces *t = scratch_init(&memory, SCRATCH_BYTES) < 0 ? NULL : scratch_alloc(&memory, sizeof *t);
    if (!t) {
        return PyErr_NoMemory();
    }
    *t = (traces){.is_alive = is_any, .way = way};
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
