// Addresses in disguise: what code may keep of a block's address where no plain pointer is left.
//
// A block whose address is nowhere in memory as an aligned word may still be somebody's: a Python int is a
// handle, a packed struct has its pointer at any byte, tagged pointers use their upper bits, others are
// stored inverted, shifted, or as text. So before a block is called lost all of memory is looked through once
// more, byte by byte, for these few forms; what is found in memory that is alive reaches the block.
//
// Cost. A pass is some ten times as dear as a search for plain words, and made for lost blocks only. Limits:
// an address that is combined with a secret (xor), or split over two words is not seen, nor one
// that the kernel alone knows (of an epoll Python holds them as ints, kept_by_kernel.py); nor is memory
// searched that is mapped shared or read-only from a file.
#define INSPECTOR_INTERNALS
#include "outside_search.h"

enum { SHIFTS = 5, DIGIT_WIDTH = 30, USED_BITS = 48 };
static const int shifts[SHIFTS] = {1, 2, 3, 4, 16};

typedef struct {
    traces *of;
    const char *at, *stop;
} traces_walk;

static uint64_t digits_of(uint64_t word) { // of a Python int
    uint64_t mask = (1ULL << DIGIT_WIDTH) - 1;
    return (word & mask) | (word >> 32 & mask) << DIGIT_WIDTH;
}

static void meet(traces *t, uint64_t value, uintptr_t word, int is_exact) {
    ptrdiff_t block = value - t->low < t->span ? ranges_at(t->blocks, t->count, value) : -1;
    if (block < 0 || t->words[block] || (is_exact && value != t->blocks[block].start)) {
        return;
    }
    if (t->is_alive(t->context, word)) {
        t->words[block] = word;
    }
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

static void meet_text(traces *t, uint64_t word, uintptr_t at) {
    for (size_t i = 0; i < t->count && may_be_text(t, word); i++) {
        if (word == t->texts[i] && !t->words[i] && t->is_alive(t->context, at & ~(uintptr_t)7)) {
            t->words[i] = at;
        }
    }
}

static __attribute__((no_sanitize("address"))) void look(traces *t, const char *at) {
    uint64_t word;
    for (int byte = 1; byte < 8; byte++) {
        memcpy(&word, at + byte, sizeof word);
        meet(t, word, (uintptr_t)at, 0);
        meet_text(t, word, (uintptr_t)at + (uintptr_t)byte);
    }
    memcpy(&word, at, sizeof word);
    meet_text(t, word, (uintptr_t)at);
    meet(t, digits_of(word), (uintptr_t)at, 0);
    meet(t, ~word, (uintptr_t)at, 0);
    meet(t, __builtin_bswap64(word), (uintptr_t)at, 1);
    if (word >> USED_BITS) {
        meet(t, word & ((1ULL << USED_BITS) - 1), (uintptr_t)at, 0);
    }
    for (int i = 0; i < SHIFTS; i++) {
        meet(t, word << shifts[i], (uintptr_t)at, 1);
        meet(t, word >> shifts[i], (uintptr_t)at, 1);
    }
}

static __attribute__((no_sanitize("address"))) void walk(void *argument) {
    traces_walk *w = argument;
    for (; w->at + 2 * sizeof(uint64_t) <= w->stop; w->at += sizeof(uint64_t)) {
        look(w->of, w->at);
    }
}

void outside_traces(traces *t, const scan_runs *runs) {
    if (!t->count) {
        return;
    }
    t->low = t->blocks[0].start;
    t->span = t->blocks[t->count - 1].stop - t->low;
    for (size_t i = 0; i < t->count; i++) {
        t->texts[i] = hexadecimal(t->blocks[i].start);
        t->text_filter |= 1ULL << text_bit(t->texts[i]);
    }
    for (size_t i = 0; i < runs->count; i++) {
        traces_walk w = {t, (const char *)runs->rows[i].start, (const char *)runs->rows[i].stop};
        while (memory_guarded(walk, &w) < 0) { // what went meanwhile is no owner
            w.at = (const char *)(((uintptr_t)w.at & ~4095UL) + 4096);
        }
    }
}
