// A few elements of a result beside the same ones of an argument, both alive at the end of the call.
//
// Only arrays are compared whose struct tells of strides, and bytes, which have one axis. Elements pair by
// their indices where the shapes are equal, else by their number in C order where the counts are (a reshape)
// or the argument's come first in the result (a concatenation). Values pair as numbers: a cast to a smaller
// type is still a copy. SAMPLES elements can be equal by chance; the verdict says "by sample".
#include "native.h"

#include "samples.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 8, DESCR_BYTEORDER = 26 };

typedef samples_block block;

static int is_array(const witnessed *seen) { return seen->letter == 'o' && spans_is_ndarray(seen->object); }

// Python references are read as they are; every other kind by its bytes.
static int block_of_array(const witnessed *seen, block *ret) {
    const ndarray_fields *array = (const ndarray_fields *)seen->object;
    char order = ((const char *)array->descr)[DESCR_BYTEORDER];
    if (array->nd > SAMPLES_AXES_MAX || order == '>') {
        return 0;
    }
    *ret = (block){array->memory, array->nd, {0}, {0}, 1, seen->span.item_bytes, seen->span.kind};
    for (int axis = 0; axis < array->nd; axis++) {
        ret->shape[axis] = array->dimensions[axis];
        ret->strides[axis] = array->strides[axis];
        ret->count *= (uint64_t)array->dimensions[axis];
    }
    return 1;
}

int samples_block_of(const witnessed *seen, const char *kinds, samples_block *ret) {
    if (!seen->has_span || !seen->span.item_bytes || !strchr(kinds, seen->span.kind)) {
        return 0;
    }
    if (is_array(seen)) {
        return block_of_array(seen, ret);
    }
    if (!(seen->span.flags & SPAN_C)) {
        return 0;
    }
    uint32_t bytes = seen->span.item_bytes;
    *ret = (block){(const char *)seen->span.start,
                   1,
                   {(Py_ssize_t)(seen->span.logical_bytes / bytes)},
                   {(Py_ssize_t)bytes},
                   seen->span.logical_bytes / bytes,
                   bytes,
                   seen->span.kind};
    return 1;
}

const char *samples_element(const block *of, uint64_t at) {
    const char *place = of->memory;
    for (int axis = of->axes - 1; axis >= 0; axis--) {
        uint64_t extent = (uint64_t)of->shape[axis];
        place += (Py_ssize_t)(at % extent) * of->strides[axis];
        at /= extent;
    }
    return place;
}

static int block_of(const witnessed *seen, block *ret) { return samples_block_of(seen, "biufS", ret); }

#define READ(ctype) \
    { \
        ctype value; \
        memcpy(&value, place, sizeof value); \
        *ret = (double)value; \
        return 1; \
    }

static int number(const char *place, char kind, uint32_t bytes, double *ret) {
    switch (kind << 8 | (int)bytes) {
    case 'b' << 8 | 1:
    case 'u' << 8 | 1:
        READ(uint8_t)
    case 'i' << 8 | 1:
        READ(int8_t)
    case 'i' << 8 | 2:
        READ(int16_t)
    case 'u' << 8 | 2:
        READ(uint16_t)
    case 'i' << 8 | 4:
        READ(int32_t)
    case 'u' << 8 | 4:
        READ(uint32_t)
    case 'i' << 8 | 8:
        READ(int64_t)
    case 'u' << 8 | 8:
        READ(uint64_t)
    case 'f' << 8 | 4:
        READ(float)
    case 'f' << 8 | 8:
        READ(double)
    default:
        return 0;
    }
}

// 1 equal, 0 different, -1 not comparable.
static int same(const char *a, const block *of_a, const char *b, const block *of_b) {
    if (of_a->item_bytes == of_b->item_bytes &&
        (of_a->kind == of_b->kind || of_a->kind == 'S' || of_b->kind == 'S')) {
        return memcmp(a, b, of_a->item_bytes) == 0;
    }
    int integers = strchr("iu", of_a->kind) && strchr("iu", of_b->kind);
    if (integers && of_a->item_bytes < of_b->item_bytes) { // a narrowed one is a copy, whatever it lost
        return memcmp(a, b, of_a->item_bytes) == 0;
    }
    double x, y;
    if (of_a->kind == 'b' || of_b->kind == 'b') {
        return -1; // True stands for every number: it tells nothing
    }
    if (!number(a, of_a->kind, of_a->item_bytes, &x) || !number(b, of_b->kind, of_b->item_bytes, &y)) {
        return -1;
    }
    return x == y || (float)x == (float)y || (of_a->kind != 'f' && trunc(y) == x) || (isnan(x) && isnan(y));
}

static int compare(const block *result, const block *argument) {
    if (!argument->count || result->count < argument->count) {
        return -1;
    }
    int found = -1;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        uint64_t at = i * (argument->count - 1) / (SAMPLES - 1);
        found = same(samples_element(result, at), result, samples_element(argument, at), argument);
        if (found != 1) {
            return found;
        }
    }
    return found;
}

uint32_t samples_compare(const witnessed *result, const witness *seen) {
    block made, given;
    uint32_t mask = 0;
    if (!block_of(result, &made)) {
        return 0;
    }
    for (int i = 0; i < seen->count; i++) {
        if (seen->arguments[i].object == result->object || !block_of(&seen->arguments[i], &given)) {
            continue;
        }
        int equal = compare(&made, &given);
        mask |= equal >= 0 ? SAMPLES_COMPARED : 0;
        mask |= equal == 1 ? 1u << i : equal == 0 ? SAMPLES_UNEQUAL : 0;
    }
    return mask;
}
