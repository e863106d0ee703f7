// The arithmetic of lazy vectors for AVX2 and for any processor, chosen once at run time.
//
// Both variants are the same C (lazy/kernels_body.h) with GCC vectors. AVX2 without FMA: a fused multiply-add
// would give different bits on different machines. Without the pragma only the portable variant is built.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"
#include "machine/machine.h"
#include "module/platform.h"

#define VARIANT(name) name##_any
#include "lazy/kernels_body.h"
#undef VARIANT

#if MACHINE_AVX2
PLATFORM_AVX2_BEGIN
#define VARIANT(name) name##_avx2
#include "lazy/kernels_body.h"
#undef VARIANT
PLATFORM_AVX2_END

static int portable; // tests compare both variants on one machine

static inline int wide(void) { return !portable && machine_has_avx2(); }
#define CHOOSE(name) (wide() ? name##_avx2 : name##_any)
void lazy_kernels_choose(int portable_) { portable = portable_; }
#else
#define CHOOSE(name) (name##_any)
void lazy_kernels_choose(int portable_) { (void)portable_; }
#endif

enum { KINDS = sizeof kinds_any / sizeof *kinds_any };

static const lazy_kind *lazy_kind_of_family(char family, Py_ssize_t itemsize) {
    for (int i = 0; i < KINDS; i++) {
        if (kinds_any[i].family == family && kinds_any[i].itemsize == itemsize) {
            return CHOOSE(kinds) + i;
        }
    }
    return NULL;
}

// The code gives only the family: `l` has 8 bytes here and 4 in standard size, so itemsize decides.
const lazy_kind *lazy_kind_of(const char *format, Py_ssize_t itemsize) {
    if (!format) {
        return lazy_kind_of_family('u', itemsize == 1 ? 1 : 0); // PEP 3118: NULL means "B"
    }
    if (strchr("@=<", *format) || (*format && strchr(">!", *format) && itemsize == 1)) {
        format += *format != 0; // native order: little-endian on all supported machines
    }
    if (!*format || format[1]) {
        return NULL;
    }
    char family = *format == '?'              ? 'b'
                  : strchr("bhilqn", *format) ? 'i'
                  : strchr("BHILQN", *format) ? 'u'
                  : strchr("fd", *format)     ? 'f'
                                              : 0;
    return family ? lazy_kind_of_family(family, itemsize) : NULL;
}

lazy_stamp lazy_checksum(const void *in, int64_t bytes) { return CHOOSE(checksum)(in, bytes); }

lazy_stamp lazy_sum_f64_stamped(const double *in, int64_t n, int absolute, double *total) {
    return CHOOSE(sum_stamped)(in, n, absolute, total);
}
