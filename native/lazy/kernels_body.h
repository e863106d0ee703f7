// The arithmetic of lazy vectors, compiled once per instruction set: lazy/kernels.c includes this file with
// VARIANT(name) defined. GCC vectors are 32 bytes: one register with AVX2, two without.
//
// Elements are read directly from a caller's buffer and may be unaligned, hence the `loose` types.
// SPDX-License-Identifier: MIT

typedef double VARIANT(v4d) __attribute__((vector_size(32)));
typedef float VARIANT(v8f) __attribute__((vector_size(32)));
typedef int32_t VARIANT(v8i) __attribute__((vector_size(32)));
typedef int64_t VARIANT(v4i) __attribute__((vector_size(32)));
typedef uint64_t VARIANT(v4u) __attribute__((vector_size(32)));
typedef VARIANT(v4u) VARIANT(loose) __attribute__((aligned(1), may_alias));

// --- checksum ---------------------------------------------------------------------------------------
// Two sums per lane, as in Fletcher's checksum: `a` of the words, `b` of the values of `a`. A changed word
// changes `a`; swapped words change `b`. It costs two additions per vector, little next to memory traffic.

typedef struct {
    VARIANT(v4u) a0, a1, b0, b1;
} VARIANT(lanes);

static inline lazy_stamp VARIANT(fold_lanes)(const VARIANT(lanes) * lanes, uint64_t length) {
    lazy_stamp stamp = {{length, 0}};
    for (int i = 0; i < 4; i++) {
        uint64_t weight = 0x9E3779B97F4A7C15u * (uint64_t)(2 * i + 1);
        stamp.word[0] += lanes->a0[i] * weight + lanes->a1[i] * (weight ^ 0xC2B2AE3D27D4EB4Eu);
        stamp.word[1] += lanes->b0[i] * weight + lanes->b1[i] * (weight ^ 0x165667B19E3779F8u);
    }
    return stamp;
}

#define LAZY_ADD_WORDS(lanes, at) \
    do { \
        (lanes).a0 += ((const VARIANT(loose) *)(at))[0]; \
        (lanes).b0 += (lanes).a0; \
        (lanes).a1 += ((const VARIANT(loose) *)(at))[1]; \
        (lanes).b1 += (lanes).a1; \
        (lanes).a0 += ((const VARIANT(loose) *)(at))[2]; \
        (lanes).b0 += (lanes).a0; \
        (lanes).a1 += ((const VARIANT(loose) *)(at))[3]; \
        (lanes).b1 += (lanes).a1; \
    } while (0)

static lazy_stamp VARIANT(checksum)(const void *in, int64_t bytes) {
    const char *at = in;
    VARIANT(lanes) lanes = {0};
    int64_t i = 0;
    for (; i + 128 <= bytes; i += 128) {
        LAZY_ADD_WORDS(lanes, at + i);
    }
    char tail[128] = {0};
    memcpy(tail, at + i, (size_t)(bytes - i));
    LAZY_ADD_WORDS(lanes, tail);
    return VARIANT(fold_lanes)(&lanes, (uint64_t)bytes);
}

// Sum (of absolute values) and checksum of doubles in one pass over memory. Sixteen partial sums: the
// rounding error of a block grows like that of NumPy's pairwise sum, not like that of one running sum.
static lazy_stamp VARIANT(sum_stamped)(const double *in, int64_t n, int absolute, double *total) {
    const VARIANT(v4u) mask = ((VARIANT(v4u)){0}) + (absolute ? ~(UINT64_C(1) << 63) : ~UINT64_C(0));
    VARIANT(lanes) lanes = {0};
    VARIANT(v4d) s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    double tail[16] = {0};
    int64_t i = 0;
    memcpy(tail, in + (n & ~INT64_C(15)), (size_t)(n & 15) * sizeof *in);
    for (int last = 0; last < 2; last++) { // the whole vectors, then the tail, padded with zeros
        const double *at = last ? tail : in;
        int64_t end = last ? 16 : n & ~INT64_C(15);
        for (i = 0; i < end; i += 16) {
            LAZY_ADD_WORDS(lanes, at + i);
            const VARIANT(loose) *words = (const VARIANT(loose) *)(at + i);
            s0 += (VARIANT(v4d))(words[0] & mask);
            s1 += (VARIANT(v4d))(words[1] & mask);
            s2 += (VARIANT(v4d))(words[2] & mask);
            s3 += (VARIANT(v4d))(words[3] & mask);
        }
    }
    s0 = (s0 + s1) + (s2 + s3);
    *total += (s0[0] + s0[1]) + (s0[2] + s0[3]);
    return VARIANT(fold_lanes)(&lanes, (uint64_t)n * sizeof *in);
}

// --- kernels of each kind ----------------------------------------------------------------------------
// GCC can vectorize these loops; the element types allow unaligned reads.

// Whether `holds` for any element from number `first` on; `negated` is ! for none.
#define LAZY_ANY(name, kind, first, holds, negated) \
    static int VARIANT(name)(const void *in, int64_t n) { \
        const VARIANT(kind) *from = in; \
        int found = 0; \
        for (int64_t i = first; i < n; i++) { \
            found |= holds; \
        } \
        return negated found; \
    }

#define LAZY_INTEGER(kind, type, wide, signed_) \
    typedef type VARIANT(kind) __attribute__((aligned(1), may_alias)); \
    static void VARIANT(abs_##kind)(const void *in, void *out, int64_t n) { \
        const VARIANT(kind) *from = in; \
        VARIANT(kind) *to = out; \
        for (int64_t i = 0; i < n; i++) { /* the smallest integer is unchanged, as in NumPy */ \
            to[i] = signed_ && from[i] < (type)1 ? (type)(0 - (wide)from[i]) : from[i]; \
        } \
    } \
    static void VARIANT(sum_##kind)(const void *in, int64_t n, lazy_number *total) { \
        const VARIANT(kind) *from = in; \
        uint64_t sum = 0; /* wraps, as NumPy's */ \
        for (int64_t i = 0; i < n; i++) { \
            sum += (uint64_t)(wide)from[i]; \
        } \
        total->natural += sum; \
    } \
    static void VARIANT(real_##kind)(const void *in, int64_t n, double *total) { \
        const VARIANT(kind) *from = in; \
        double sum[4] = {0}; \
        for (int64_t i = 0; i < n; i++) { \
            sum[i & 3] += (double)from[i]; \
        } \
        *total += (sum[0] + sum[1]) + (sum[2] + sum[3]); \
    } \
    static void VARIANT(least_##kind)(const void *in, int64_t n, void *least, void *most, int *nan) { \
        const VARIANT(kind) *from = in; \
        type low = *(type *)least, high = *(type *)most; \
        for (int64_t i = 0; i < n; i++) { \
            low = from[i] < low ? from[i] : low; \
            high = from[i] > high ? from[i] : high; \
        } \
        *(type *)least = low; \
        *(type *)most = high; \
    } \
    LAZY_ANY(sorted_##kind, kind, 1, from[i - 1] > from[i], !)

#define LAZY_REAL(kind, type, bits, lane, mask_lane, width) \
    typedef type VARIANT(kind) __attribute__((aligned(1), may_alias)); \
    typedef bits VARIANT(bits_##kind) __attribute__((aligned(1), may_alias)); \
    typedef VARIANT(lane) VARIANT(loose_##kind) __attribute__((aligned(1), may_alias)); \
    static void VARIANT(abs_##kind)(const void *in, void *out, int64_t n) { \
        const VARIANT(bits_##kind) *from = in; \
        VARIANT(bits_##kind) *to = out; \
        for (int64_t i = 0; i < n; i++) { /* NaN keeps its payload, -0.0 becomes 0.0 */ \
            to[i] = from[i] & (bits) ~((bits)1 << (8 * sizeof(bits) - 1)); \
        } \
    } \
    static void VARIANT(least_##kind)(const void *in, int64_t n, void *least, void *most, int *nan) { \
        const VARIANT(kind) *from = in; \
        type low = *(type *)least, high = *(type *)most; \
        VARIANT(lane) lows = ((VARIANT(lane)){0}) + low, highs = ((VARIANT(lane)){0}) + high; \
        VARIANT(mask_lane) odd = {0}; \
        int64_t i = 0; \
        for (; i + width <= n; i += width) { \
            VARIANT(lane) x = *(const VARIANT(loose_##kind) *)(from + i); \
            VARIANT(mask_lane) less = x<lows, more = x> highs; \
            odd |= x != x; \
            lows = (VARIANT(lane))((less & (VARIANT(mask_lane))x) | (~less & (VARIANT(mask_lane))lows)); \
            highs = (VARIANT(lane))((more & (VARIANT(mask_lane))x) | (~more & (VARIANT(mask_lane))highs)); \
        } \
        for (int j = 0; j < width; j++) { \
            low = lows[j] < low ? lows[j] : low; \
            high = highs[j] > high ? highs[j] : high; \
            *nan |= odd[j] != 0; \
        } \
        for (; i < n; i++) { \
            low = from[i] < low ? from[i] : low; \
            high = from[i] > high ? from[i] : high; \
            *nan |= from[i] != from[i]; \
        } \
        *(type *)least = low; \
        *(type *)most = high; \
    } \
    LAZY_ANY(sorted_##kind, kind, 1, \
             (from[i - 1] > from[i]) | ((from[i - 1] != from[i - 1]) & (from[i] == from[i])), !) \
    LAZY_ANY(nan_##kind, kind, 0, from[i] != from[i], )

LAZY_INTEGER(bool, uint8_t, uint64_t, 0)
LAZY_INTEGER(i8, int8_t, int64_t, 1)
LAZY_INTEGER(i16, int16_t, int64_t, 1)
LAZY_INTEGER(i32, int32_t, int64_t, 1)
LAZY_INTEGER(i64, int64_t, uint64_t, 1)
LAZY_INTEGER(u8, uint8_t, uint64_t, 0)
LAZY_INTEGER(u16, uint16_t, uint64_t, 0)
LAZY_INTEGER(u32, uint32_t, uint64_t, 0)
LAZY_INTEGER(u64, uint64_t, uint64_t, 0)
LAZY_REAL(f32, float, uint32_t, v8f, v8i, 8)
LAZY_REAL(f64, double, uint64_t, v4d, v4i, 4)

static void VARIANT(real_f64)(const void *in, int64_t n, double *total) {
    VARIANT(sum_stamped)(in, n, 0, total);
}

static void VARIANT(real_f32)(const void *in, int64_t n, double *total) {
    const VARIANT(f32) *from = in;
    double sum[8] = {0}; // in doubles: at least as exact as NumPy's pairwise sum of floats
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int j = 0; j < 8; j++) {
            sum[j] += (double)from[i + j];
        }
    }
    for (; i < n; i++) {
        sum[0] += (double)from[i];
    }
    *total += ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static void VARIANT(sum_f64)(const void *in, int64_t n, lazy_number *total) {
    VARIANT(real_f64)(in, n, &total->real);
}
static void VARIANT(sum_f32)(const void *in, int64_t n, lazy_number *total) {
    VARIANT(real_f32)(in, n, &total->real);
}

#define LAZY_ROW(kind, code, name, family, type, nan_) \
    {code, \
     name, \
     family, \
     sizeof(type), \
     VARIANT(abs_##kind), \
     VARIANT(sum_##kind), \
     VARIANT(real_##kind), \
     VARIANT(least_##kind), \
     VARIANT(sorted_##kind), \
     nan_},

static const lazy_kind VARIANT(kinds)[] = {
    LAZY_ROW(bool, "?", "bool", 'b', uint8_t, NULL) LAZY_ROW(i8, "b", "int8", 'i', int8_t, NULL)
        LAZY_ROW(i16, "h", "int16", 'i', int16_t, NULL) LAZY_ROW(i32, "i", "int32", 'i', int32_t, NULL)
            LAZY_ROW(i64, "l", "int64", 'i', int64_t, NULL) LAZY_ROW(u8, "B", "uint8", 'u', uint8_t, NULL)
                LAZY_ROW(u16, "H", "uint16", 'u', uint16_t, NULL)
                    LAZY_ROW(u32, "I", "uint32", 'u', uint32_t, NULL)
                        LAZY_ROW(u64, "L", "uint64", 'u', uint64_t, NULL)
                            LAZY_ROW(f32, "f", "float32", 'f', float, VARIANT(nan_f32))
                                LAZY_ROW(f64, "d", "float64", 'f', double, VARIANT(nan_f64))};

#undef LAZY_ADD_WORDS
#undef LAZY_ANY
#undef LAZY_INTEGER
#undef LAZY_REAL
#undef LAZY_ROW
