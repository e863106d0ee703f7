// A filter for bytes of memory that may hold a disguised address of one of a few blocks.
//
// leaks/raw_memory/disguised.c decodes a word in some twenty forms and looks up each for a block. Few words
// match any. The bits that the addresses of the blocks share (the upper bytes of a heap) tell so for many
// words at once: each form of an address has those bits too, at other positions. So each form of an aligned
// word is a pair (mask, value), computed once. Pointers at the seven other offsets, and those with tags in
// their upper bits, are recognised by bytes 2 to 7; text by four hexadecimal digits at a multiple of four,
// which any eight in a row contain. What passes is decoded: the filter may pass too much, never too little.
//
// Heap and mapped memory share few bits, so addresses form two groups. filter_body.h is compiled twice: with
// AVX2 and without.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/raw_memory/search_parts.h"
#include "machine/machine.h"
#include "memory/memory.h"
#include "module/platform.h"

enum { GROUP_BIT = 40, DIGIT_BITS = 30, EACH_GROUP = 14 };
_Static_assert((int)EACH_GROUP *(int)DISGUISE_GROUPS <= (int)DISGUISE_PATTERNS, "room for all forms");

// Bits that all addresses of a group share.
typedef struct {
    uint64_t mask, value;
} common_bits;

static void add(disguise_filter *f, uint64_t mask, uint64_t value) {
    f->masks[f->count] = mask;
    f->values[f->count++] = value & mask;
}

static uint64_t as_digits(uint64_t bits) { // of a Python int (30 bits each)
    const uint64_t digit = (1ULL << DIGIT_BITS) - 1;
    return (bits & digit) | (bits >> DIGIT_BITS & digit) << 32;
}

// word << shift or word >> shift is the address: no bit of it may be shifted out.
static void add_shifted(disguise_filter *f, common_bits exact, int shift) {
    uint64_t value = exact.value & exact.mask;
    if (value >> shift << shift == value) {
        add(f, exact.mask >> shift, value >> shift);
    }
    if (value << shift >> shift == value) {
        add(f, exact.mask << shift, value << shift);
    }
}

static void add_group(disguise_filter *f, common_bits within, common_bits exact) {
    add(f, as_digits(within.mask), as_digits(within.value));
    if (!((within.value & within.mask) >> DIGIT_BITS)) {
        add(f, within.mask & UINT32_MAX, within.value); // one digit; the bytes behind it were never written
    }
    add(f, within.mask, ~within.value);
    add(f, __builtin_bswap64(exact.mask), __builtin_bswap64(exact.value));
    for (int i = 0; i < DISGUISE_SHIFTS; i++) {
        add_shifted(f, exact, disguise_shifts[i]);
    }
    for (int i = 0; i < DISGUISE_BYTES; i++) {
        f->byte_masks[f->groups][i] = (uint8_t)(within.mask >> (16 + 8 * i));
        f->byte_values[f->groups][i] = (uint8_t)((within.value & within.mask) >> (16 + 8 * i));
    }
    f->groups++;
}

static uint64_t from_highest(uint64_t bits) { return bits ? UINT64_MAX >> __builtin_clzll(bits) : 0; }

// The blocks with the same upper bits as the first one, or the others.
static void take_group(disguise_filter *f, const scan_range *blocks, size_t count, int of_rest) {
    uint64_t value = 0, within = 0, starts = 0;
    int is_any = 0;
    for (size_t i = 0; i < count; i++) {
        scan_range block = blocks[i];
        if ((block.start >> GROUP_BIT != blocks[0].start >> GROUP_BIT) == of_rest) {
            value = is_any ? value : block.start;
            is_any = 1;
            starts |= block.start ^ value;
            within |= from_highest(block.start ^ (block.stop - 1)) | (block.start ^ value);
        }
    }
    if (is_any) {
        add_group(f, (common_bits){~within, value}, (common_bits){~starts, value});
    }
}

void raw_memory_filter_init(disguise_filter *ret, const scan_range *blocks, size_t count, int is_portable) {
    *ret = (disguise_filter){.is_portable = is_portable};
    take_group(ret, blocks, count, 0);
    take_group(ret, blocks, count, 1);
}

#if MACHINE_AVX2
PLATFORM_AVX2_BEGIN
#define VARIANT(name) name##_avx2
#define VECTOR_BYTES 32
#include "leaks/raw_memory/filter_body.h"
#undef VARIANT
#undef VECTOR_BYTES
PLATFORM_AVX2_END
#endif

#define VARIANT(name) name##_plain
#define VECTOR_BYTES 16
#include "leaks/raw_memory/filter_body.h"

unsigned raw_memory_filter_find(const disguise_filter *f, const char **at, const char *stop) {
#if MACHINE_AVX2
    if (machine_has_avx2() && !f->is_portable) {
        return find_avx2(f, at, stop);
    }
#endif
    return find_plain(f, at, stop);
}
