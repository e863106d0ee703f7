// Elements of a lazy vector without materializing it: one, a region, or all of them block by block.
//
// Every recipe computes from data1: a buffer, another lazy vector, three numbers, Python or C code. Elements
// that are already materialized are copied from data2 instead. A vector is `native` if no Python runs to
// compute an element; then these functions touch no Python object, cannot fail, and run without the GIL. This
// is safe because nothing they read is freed or moved meanwhile: the input's buffer is held, `done` and
// `stamps` stay once made, a block's bit is set after its bytes are written, and a replaced data2 is retired.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"

// Whether elements [i, i + n) lie in data2.
static int is_materialized(LazyVector *vector, Py_ssize_t i, Py_ssize_t n) {
    if (lazy_state_of(vector) == LAZY_DONE) {
        return 1;
    }
    const uint64_t *done = __atomic_load_n(&vector->done, __ATOMIC_ACQUIRE);
    if (!done) {
        return 0;
    }
    Py_ssize_t length = lazy_block_length(vector);
    for (Py_ssize_t block = i / length; block <= (i + n - 1) / length; block++) {
        if (!(__atomic_load_n(done + block / 64, __ATOMIC_ACQUIRE) >> (block % 64) & 1)) {
            return 0;
        }
    }
    return 1;
}

static inline int is_contiguous(const LazyVector *vector) {
    return vector->source.obj && vector->start == vector->kind->itemsize;
}

// A buffer's element: `start` is its stride in bytes.
static inline const char *source_at(const LazyVector *vector, Py_ssize_t i) {
    return (const char *)vector->source.buf + i * vector->start;
}

static inline void copy_element(void *to, const void *from, int itemsize) {
    switch (itemsize) { // a constant size becomes one instruction
    case 1:
        memcpy(to, from, 1);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, 8);
    }
}

static void source_region(LazyVector *vector, Py_ssize_t i, Py_ssize_t n, void *out) {
    int size = vector->kind->itemsize;
    if (is_contiguous(vector)) {
        memcpy(out, source_at(vector, i), (size_t)(n * size));
    } else {
        for (Py_ssize_t k = 0; k < n; k++) {
            copy_element((char *)out + k * size, source_at(vector, i + k), size);
        }
    }
    lazy_stamp_region(vector, i, n);
}

static int abs_region(LazyVector *vector, Py_ssize_t i, Py_ssize_t n, void *out) {
    const void *from = out;
    if (vector->over_input) {
        if (lazy_region(lazy_input(vector), i, n, out) < 0) {
            return -1;
        }
    } else if (is_contiguous(vector)) {
        from = source_at(vector, i);
        lazy_stamp_region(vector, i, n);
    } else {
        source_region(vector, i, n, out);
    }
    vector->kind->absolute(from, out, n);
    return 0;
}

// start + i * delta as NumPy computes it: integers wrap, floats are rounded twice, the first two are given.
static void arange_element(const LazyVector *vector, Py_ssize_t i, void *out) {
    int size = vector->kind->itemsize;
    if (vector->kind->family != 'f') {
        uint64_t value = vector->first.natural + (uint64_t)i * vector->by.natural;
        copy_element(out, &value, size); // little-endian: the low bytes come first
        return;
    }
    double value = vector->first.real + (double)i * vector->by.real;
    float narrow = (float)vector->first.real + (float)i * (float)vector->by.real;
    if (i == 1) {
        value = vector->second.real;
        narrow = (float)value;
    }
    if (size == 8) {
        memcpy(out, &value, sizeof value);
    } else {
        memcpy(out, &narrow, sizeof narrow);
    }
}

static void arange_region(const LazyVector *vector, Py_ssize_t i, Py_ssize_t n, void *out) {
    for (Py_ssize_t k = 0; k < n; k++) {
        arange_element(vector, i + k, (char *)out + k * vector->kind->itemsize);
    }
}

// Small steps read the elements in between as well, into a small buffer; large steps read single elements.
static int slice_region(LazyVector *vector, Py_ssize_t i, Py_ssize_t n, void *out) {
    enum { ROOM = 512, NEAR = 8 };
    LazyVector *input = lazy_input(vector);
    Py_ssize_t step = vector->step, size = vector->kind->itemsize;
    if (step == 1) {
        return lazy_region(input, vector->start + i, n, out);
    }
    uint64_t scratch[ROOM];
    Py_ssize_t width = step < 0 ? -step : step, most = width <= NEAR ? (ROOM - 1) / width + 1 : 1;
    for (Py_ssize_t k = 0; k < n;) {
        Py_ssize_t count = n - k < most ? n - k : most, at = vector->start + (i + k) * step;
        Py_ssize_t low = step < 0 ? at + (count - 1) * step : at;
        if (lazy_region(input, low, (count - 1) * width + 1, scratch) < 0) {
            return -1;
        }
        for (Py_ssize_t j = 0; j < count; j++, k++) {
            copy_element((char *)out + k * size, (char *)scratch + (at + j * step - low) * size, (int)size);
        }
    }
    return 0;
}

int lazy_region(LazyVector *vector, Py_ssize_t i, Py_ssize_t n, void *out) {
    int size = vector->kind->itemsize;
    if (n <= 0) {
        return 0;
    }
    if (is_materialized(vector, i, n)) {
        memcpy(out, vector->result->bytes + i * size, (size_t)(n * size));
        return 0;
    }
    switch ((lazy_recipe)vector->recipe) {
    case LAZY_SOURCE:
        source_region(vector, i, n, out);
        return 0;
    case LAZY_ABS:
        return abs_region(vector, i, n, out);
    case LAZY_ARANGE:
        arange_region(vector, i, n, out);
        return 0;
    case LAZY_SLICE:
        return slice_region(vector, i, n, out);
    case LAZY_PYTHON:
        return lazy_python_region(vector, i, n, out);
    case LAZY_FOREIGN:
        return lazy_foreign_region(vector, i, n, out);
    }
    return 0;
}

int lazy_elt(LazyVector *vector, Py_ssize_t i, void *out) {
    int size = vector->kind->itemsize;
    if (is_materialized(vector, i, 1)) {
        copy_element(out, vector->result->bytes + i * size, size);
        return 0;
    }
    switch ((lazy_recipe)vector->recipe) {
    case LAZY_ARANGE:
        arange_element(vector, i, out);
        return 0;
    case LAZY_SLICE:
        return lazy_elt(lazy_input(vector), vector->start + i * vector->step, out);
    case LAZY_PYTHON:
        return lazy_python_elt(vector, i, out);
    case LAZY_FOREIGN:
        return lazy_foreign_elt(vector, i, out);
    case LAZY_SOURCE:
    case LAZY_ABS:
        break;
    }
    if (vector->over_input) {
        if (lazy_elt(lazy_input(vector), i, out) < 0) {
            return -1;
        }
    } else {
        copy_element(out, source_at(vector, i), size);
        lazy_stamp_element(vector, i, out);
    }
    if (vector->recipe == LAZY_ABS) {
        vector->kind->absolute(out, out, 1);
    }
    return 0;
}

int lazy_prepare(LazyVector *vector) {
    for (; vector; vector = lazy_input(vector)) {
        if (vector->source.obj && !vector->stamps && lazy_stamps_make(vector) < 0) {
            return -1;
        }
    }
    return 0;
}

// The address of all elements, if they exist already: data2, or memory of a provider. Else NULL.
static const char *all_elements(LazyVector *vector) {
    if (lazy_state_of(vector) == LAZY_DONE) {
        return vector->result->bytes;
    }
    if (vector->provider && vector->provider->dataptr_or_null) {
        return vector->provider->dataptr_or_null(vector->provider->context);
    }
    return NULL;
}

static int fold_blocks(LazyVector *vector, lazy_fold fold, void *state, void *scratch) {
    Py_ssize_t most = lazy_block_length(vector), size = vector->kind->itemsize;
    const char *all = all_elements(vector);
    for (Py_ssize_t i = 0; i < vector->length; i += most) {
        Py_ssize_t n = vector->length - i < most ? vector->length - i : most;
        if (!all && lazy_region(vector, i, n, scratch) < 0) {
            return -1;
        }
        int enough = fold(vector->kind, all ? all + i * size : scratch, i, n, state);
        if (enough) {
            return enough < 0 ? -1 : 0;
        }
    }
    return 0;
}

static void raw_free(void **pointer) { PyMem_RawFree(*pointer); }

int lazy_each_block(LazyVector *vector, lazy_fold fold, void *state) {
    Py_ssize_t bytes = vector->length * vector->kind->itemsize;
    __attribute__((cleanup(raw_free))) void *scratch =
        PyMem_RawMalloc((size_t)(bytes < LAZY_BLOCK_BYTES ? bytes + 1 : LAZY_BLOCK_BYTES));
    if (!scratch) {
        return error_no_memory();
    }
    if (lazy_prepare(vector) < 0) {
        return -1;
    }
    PyThreadState *released = lazy_release_gil(vector);
    int result = fold_blocks(vector, fold, state, scratch);
    lazy_take_gil(released);
    return result;
}
