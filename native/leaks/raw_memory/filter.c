// Whether some bytes of memory may hold one of a few addresses in disguise: the first test of each byte.
//
// leaks/raw_memory/disguised.c takes a word apart into some twenty forms and asks for each which block it
// names. Few words name any, and what the blocks' addresses have in common (the upper bytes of a heap) tells
// so for many words at once: a form of an address has those bits too, at other places. So all forms of an
// aligned word are pairs (mask, value), worked out once; the pointers at the seven other places, and those
// with tags in their upper bits, are told by their bytes 2 to 7; text by four hexadecimal digits at a
// multiple of four, which eight in a row always hold. What passes is looked at slowly: this test may only
// pass too much.
//
// The heap and what is mapped have little in common: there are two groups of addresses. The test is
// compiled for AVX2 and for any processor, from raw_memory_filter_body.h.
#define INSPECTOR_INTERNALS
#include "leaks/raw_memory/search_parts.h"
#include "memory/memory.h"

enum { GROUP_BIT = 40, DIGIT_BITS = 30, EACH_GROUP = 14 };
_Static_assert((int)EACH_GROUP *(int)TRACES_GROUPS <= (int)TRACES_PATTERNS, "room for all forms");

// --- what to look for ------------------------------------------------------------------------------

// Bits that all addresses of a group have in common.
typedef struct {
    uint64_t mask, value;
} likeness;

static void add(traces_filter *f, uint64_t mask, uint64_t value) {
    f->masks[f->count] = mask;
    f->values[f->count++] = value & mask;
}

static uint64_t as_digits(uint64_t bits) { // of a Python int
    const uint64_t digit = (1ULL << DIGIT_BITS) - 1;
    return (bits & digit) | (bits >> DIGIT_BITS & digit) << 32;
}

// word << shift or word >> shift is the address: nothing of it may be shifted out.
static void add_shifted(traces_filter *f, likeness exact, int shift) {
    uint64_t value = exact.value & exact.mask;
    if (value >> shift << shift == value) {
        add(f, exact.mask >> shift, value >> shift);
    }
    if (value << shift >> shift == value) {
        add(f, exact.mask << shift, value << shift);
    }
}

static void add_group(traces_filter *f, likeness within, likeness exact) {
    add(f, as_digits(within.mask), as_digits(within.value));
    if (!((within.value & within.mask) >> DIGIT_BITS)) {
        add(f, within.mask & UINT32_MAX, within.value); // a digit, and behind it what nobody wrote
    }
    add(f, within.mask, ~within.value);
    add(f, __builtin_bswap64(exact.mask), __builtin_bswap64(exact.value));
    for (int i = 0; i < TRACES_SHIFTS; i++) {
        add_shifted(f, exact, traces_shifts[i]);
    }
    for (int i = 0; i < TRACES_BYTES; i++) {
        f->byte_masks[f->groups][i] = (uint8_t)(within.mask >> (16 + 8 * i));
        f->byte_values[f->groups][i] = (uint8_t)((within.value & within.mask) >> (16 + 8 * i));
    }
    f->groups++;
}

static uint64_t from_highest(uint64_t bits) { return bits ? UINT64_MAX >> __builtin_clzll(bits) : 0; }

// Those that begin as the first one does, or the others.
static void take_group(traces_filter *f, const scan_range *blocks, size_t count, int of_others) {
    uint64_t value = 0, within = 0, starts = 0;
    int is_any = 0;
    for (size_t i = 0; i < count; i++) {
        scan_range block = blocks[i];
        if ((block.start >> GROUP_BIT != blocks[0].start >> GROUP_BIT) == of_others) {
            value = is_any ? value : block.start;
            is_any = 1;
            starts |= block.start ^ value;
            within |= from_highest(block.start ^ (block.stop - 1)) | (block.start ^ value);
        }
    }
    if (is_any) {
        add_group(f, (likeness){~within, value}, (likeness){~starts, value});
    }
}

void raw_memory_filter_init(traces_filter *ret, const scan_range *blocks, size_t count, int is_portable) {
    *ret = (traces_filter){.is_portable = is_portable};
    take_group(ret, blocks, count, 0);
    take_group(ret, blocks, count, 1);
}

// --- the test --------------------------------------------------------------------------------------

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2")
#define VARIANT(name) name##_avx2
#define VECTOR_BYTES 32
#include "leaks/raw_memory/filter_body.h"
#undef VARIANT
#undef VECTOR_BYTES
#pragma GCC pop_options
#endif

#define VARIANT(name) name##_plain
#define VECTOR_BYTES 16
#include "leaks/raw_memory/filter_body.h"

unsigned raw_memory_filter_find(const traces_filter *f, const char **at, const char *stop) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && !f->is_portable) {
        return find_avx2(f, at, stop);
    }
#endif
    return find_plain(f, at, stop);
}
