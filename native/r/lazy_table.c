// The table of lazy vectors by address: one is a vector until another is made at its address.
// SPDX-License-Identifier: MIT
#include "r/lazy_trace.h"

enum { BUCKETS = 1 << 18 };

lazy_trace lazy;
static uint32_t buckets[BUCKETS]; // number of a vector + 1

static uint32_t *bucket_of(r_object address) {
    uint32_t at = (uint32_t)(((uintptr_t)address >> 3) * 2654435761u) % BUCKETS;
    while (buckets[at] && lazy.vectors[buckets[at] - 1].address != address) {
        at = (at + 1) % BUCKETS;
    }
    return &buckets[at];
}

lazy_vector *lazy_vector_of(r_object address) {
    static uint32_t last; // loops read one vector element by element
    if (last && lazy.vectors[last - 1].address == address && *bucket_of(address) == last) {
        return &lazy.vectors[last - 1];
    }
    uint32_t number = *bucket_of(address);
    last = number ? number : last;
    return number ? &lazy.vectors[number - 1] : NULL;
}

lazy_vector *lazy_vector_add(r_object address, r_object table, ptrdiff_t length) {
    if (lazy.vector_count == VECTORS_MAX) {
        lazy.left_out++;
        return NULL;
    }
    lazy_vector *made = &lazy.vectors[lazy.vector_count++];
    *made = (lazy_vector){address, table, length, lazy.statement, r.TYPEOF(address), 0, 0, 0, 0};
    *bucket_of(address) = (uint32_t)lazy.vector_count;
    return made;
}
