// The filter of leaks/raw_memory/filter.c for one instruction set, in GCC vectors. The includer defines
// VARIANT(name) and VECTOR_BYTES.
// SPDX-License-Identifier: MIT

typedef uint64_t VARIANT(words) __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t VARIANT(halves) __attribute__((vector_size(VECTOR_BYTES)));
typedef uint8_t VARIANT(bytes) __attribute__((vector_size(VECTOR_BYTES)));
typedef VARIANT(words) VARIANT(words_at) __attribute__((aligned(1), may_alias));
typedef VARIANT(bytes) VARIANT(bytes_at) __attribute__((aligned(1), may_alias));

enum { VARIANT(VECTORS) = DISGUISE_STEP_BYTES / VECTOR_BYTES };

static inline void VARIANT(test_forms)(const disguise_filter *f, const char *at, VARIANT(words) * found) {
    VARIANT(words) words[VARIANT(VECTORS)];
#pragma GCC unroll 8
    for (int v = 0; v < VARIANT(VECTORS); v++) {
        words[v] = ((const VARIANT(words_at) *)at)[v];
    }
    for (size_t i = 0; i < f->count; i++) {
        const uint64_t mask = f->masks[i], value = f->values[i];
#pragma GCC unroll 8
        for (int v = 0; v < VARIANT(VECTORS); v++) {
            found[v] |= (VARIANT(words))((words[v] & mask) == value);
        }
    }
}

// Tests for a pointer at each byte of a vector. At a word's first byte only tagged ones count.
static inline void VARIANT(test_places)(const disguise_filter *f, const char *at, VARIANT(words) * found) {
    const VARIANT(bytes) first = (VARIANT(bytes))((VARIANT(words)){0} + 255);
    const VARIANT(bytes) above = *(const VARIANT(bytes_at) *)(at + 6) | *(const VARIANT(bytes_at) *)(at + 7);
    const VARIANT(bytes) may = (VARIANT(bytes))(above == 0) ^ first;
    for (size_t g = 0; g < f->groups; g++) {
        VARIANT(bytes) alike = may;
#pragma GCC unroll 4
        for (int i = 0; i < DISGUISE_BYTES; i++) {
            VARIANT(bytes) byte = *(const VARIANT(bytes_at) *)(at + 2 + i) & f->byte_masks[g][i];
            alike &= (VARIANT(bytes))(byte == f->byte_values[g][i]);
        }
        *found |= (VARIANT(words))alike;
    }
}

static inline void VARIANT(test_text)(const char *at, VARIANT(words) * found) {
    const VARIANT(bytes) text = *(const VARIANT(bytes_at) *)(at + 4);
    const VARIANT(bytes) digits = (VARIANT(bytes))(text - '0' < 10) | (VARIANT(bytes))(text - 'a' < 6);
    *found |= (VARIANT(words))((VARIANT(halves))digits == UINT32_MAX);
}

static inline int VARIANT(is_any)(const VARIANT(words) * words) {
    uint64_t any = 0;
    for (size_t i = 0; i < VECTOR_BYTES / sizeof(uint64_t); i++) {
        any |= (*words)[i];
    }
    return any != 0;
}

// Bits for the 32-byte parts of the first step with a match; steps without a match are skipped.
static unsigned VARIANT(find)(const disguise_filter *f, const char **at, const char *stop) {
    for (; *at + DISGUISE_STEP_BYTES + 8 <= stop; *at += DISGUISE_STEP_BYTES) {
        VARIANT(words) found[VARIANT(VECTORS)] = {{0}}, any = {0};
        __builtin_prefetch(*at + 1024, 0, 0);
        VARIANT(test_forms)(f, *at, found);
#pragma GCC unroll 8
        for (int v = 0; v < VARIANT(VECTORS); v++) {
            VARIANT(test_places)(f, *at + VECTOR_BYTES * v, &found[v]);
            VARIANT(test_text)(*at + VECTOR_BYTES * v, &found[v]);
            any |= found[v];
        }
        unsigned hits = 0;
        for (int v = 0; __builtin_expect(VARIANT(is_any)(&any), 0) && v < VARIANT(VECTORS); v++) {
            hits |= (unsigned)VARIANT(is_any)(&found[v]) << v * VECTOR_BYTES / 32;
        }
        if (hits) {
            return hits;
        }
    }
    return 0;
}
