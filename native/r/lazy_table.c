// The table of lazy vectors by address: one is a vector until another is made at its address.
// SPDX-License-Identifier: MIT
#include "r/lazy_trace.h"

#include <string.h>

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
    uint32_t number = *bucket_of(address);
    return number ? &lazy.vectors[number - 1] : NULL;
}

int lazy_is_small(const lazy_vector *one) {
    return !one->is_named && one->length >= 0 && (size_t)one->length * r_item_bytes(one->type) < LEAST_BYTES;
}

void lazy_forget_small(void) {
    int kept = 0;
    memset(buckets, 0, sizeof buckets);
    for (int i = 0; i < lazy.vector_count; i++) {
        if (lazy_is_small(&lazy.vectors[i])) {
            lazy.small++;
            continue;
        }
        lazy.vectors[kept++] = lazy.vectors[i];
        *bucket_of(lazy.vectors[kept - 1].address) = (uint32_t)kept;
    }
    lazy.vector_count = kept;
}

lazy_vector *lazy_vector_add(r_object address, r_object table, ptrdiff_t length) {
    if (lazy.vector_count == VECTORS_MAX) {
        lazy_forget_small();
    }
    if (lazy.vector_count == VECTORS_MAX) {
        lazy.left_out++;
        return NULL;
    }
    lazy_vector *made = &lazy.vectors[lazy.vector_count++];
    *made = (lazy_vector){.address = address,
                          .class_table = table,
                          .length = length,
                          .number = lazy.numbers++,
                          .statement = lazy.statement,
                          .type = r.TYPEOF(address)};
    *bucket_of(address) = (uint32_t)lazy.vector_count;
    return made;
}
