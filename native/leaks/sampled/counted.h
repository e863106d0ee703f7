// What hooks call for each block: a subtraction for a new one, a look at the filter for one that goes.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_GROWTH_COUNTED_H
#define INSPECTOR_GROWTH_COUNTED_H

#include "leaks/sampled/growth.h"

static inline void growth_allocated(int function, const void *block, size_t bytes, const void *frame) {
    int64_t left = ring_here.sample_left - (int64_t)bytes;
    if (__builtin_expect(left > 0, 1)) {
        ring_here.sample_left = left;
    } else {
        growth_allocated_slow(function, block, bytes, frame);
    }
}

static inline int growth_taken(const void *block, growth_row *ret) {
    return __builtin_expect(growth_filter[growth_bit((uintptr_t)block)], 0) && growth_taken_slow(block, ret);
}

static inline void growth_freed(const void *block) {
    growth_row unused;
    growth_taken(block, &unused);
}

#endif
