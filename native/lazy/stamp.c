// Detection of changed input: checksums of what was read from a borrowed input, compared later.
//
// NumPy cannot mark an array as immutable the way R does. So a vector over a borrowed buffer stamps what it
// reads: a checksum for each whole block (128 KB), and the last LAZY_SPANS smaller reads. The pass that reads
// a block computes its stamp; a block of which half or more is read is stamped whole. A comparison reads the
// touched blocks again at about 20 GB/s, at most `budget` of them. A block that is read again is compared for
// free. Memory: 16 bytes and a bit for each 128 KB of input. What was never read is not watched.
//
// Without the GIL two threads may stamp one block at once: both write what they read, with relaxed atomics.
// Spans are written and compared only under the GIL.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"

int lazy_stamps_make(LazyVector *vector) {
    Py_ssize_t blocks = lazy_blocks(vector);
    lazy_stamps *stamps = calloc(1, sizeof *stamps);
    if (stamps) {
        stamps->blocks = blocks;
        stamps->read = calloc((size_t)(blocks / 64 + 1), sizeof *stamps->read);
        stamps->block = calloc((size_t)blocks + 1, sizeof *stamps->block); // untouched pages cost nothing
    }
    if (!stamps || !stamps->read || !stamps->block) {
        lazy_stamps_free(stamps);
        return error_no_memory();
    }
    vector->stamps = stamps;
    return 0;
}

void lazy_stamps_free(lazy_stamps *stamps) {
    if (stamps) {
        free(stamps->read);
        free(stamps->block);
        free(stamps);
    }
}

// Stamp of input elements [i, i + n): the bytes of one element, or a checksum of several.
static lazy_stamp stamp_of(const LazyVector *vector, Py_ssize_t i, Py_ssize_t n) {
    const char *at = (const char *)vector->source.buf + i * vector->start;
    Py_ssize_t size = vector->kind->itemsize;
    lazy_stamp stamp = {{0, 0}};
    if (n == 1) {
        memcpy(stamp.word, at, (size_t)size);
        return stamp;
    }
    if (vector->start == size) {
        return lazy_checksum(at, n * size);
    }
    stamp.word[0] = (uint64_t)n;
    for (Py_ssize_t k = 0; k < n; k++) {
        uint64_t word = 0;
        memcpy(&word, at + k * vector->start, (size_t)size);
        stamp.word[0] += word;
        stamp.word[1] += stamp.word[0];
    }
    return stamp;
}

static int differ(lazy_stamp a, lazy_stamp b) { return a.word[0] != b.word[0] || a.word[1] != b.word[1]; }

static lazy_stamp load(const lazy_stamp *stamp) {
    return (lazy_stamp){{__atomic_load_n(&stamp->word[0], __ATOMIC_RELAXED),
                         __atomic_load_n(&stamp->word[1], __ATOMIC_RELAXED)}};
}

static int was_read(const lazy_stamps *stamps, Py_ssize_t block) {
    return __atomic_load_n(stamps->read + block / 64, __ATOMIC_ACQUIRE) >> (block % 64) & 1;
}

void lazy_stamp_block(lazy_stamps *stamps, Py_ssize_t block, lazy_stamp now) {
    if (was_read(stamps, block)) {
        if (differ(load(stamps->block + block), now)) {
            atomic_store(&stamps->changed, 1);
        }
        return; // the first read counts
    }
    __atomic_store_n(&stamps->block[block].word[0], now.word[0], __ATOMIC_RELAXED);
    __atomic_store_n(&stamps->block[block].word[1], now.word[1], __ATOMIC_RELAXED);
    __atomic_fetch_or(stamps->read + block / 64, UINT64_C(1) << (block % 64), __ATOMIC_RELEASE);
}

static lazy_span *next_span(lazy_stamps *stamps) { return stamps->span + stamps->next++ % LAZY_SPANS; }

void lazy_stamp_element(LazyVector *vector, Py_ssize_t i, const void *element) {
    lazy_stamps *stamps = vector->stamps;
    if (!stamps) {
        return;
    }
    lazy_span *span = next_span(stamps);
    span->start = i;
    span->count = 1;
    span->stamp.word[0] = span->stamp.word[1] = 0;
    memcpy(span->stamp.word, element, (size_t)vector->kind->itemsize);
}

void lazy_stamp_region(LazyVector *vector, Py_ssize_t i, Py_ssize_t n) {
    lazy_stamps *stamps = vector->stamps;
    Py_ssize_t most = lazy_block_length(vector), end = i + n;
    while (stamps && i < end) {
        Py_ssize_t block = i / most, stop = (block + 1) * most;
        stop = stop < vector->length ? stop : vector->length;
        Py_ssize_t count = (stop < end ? stop : end) - i, all = stop - block * most;
        if (2 * count >= all && all > 1) {
            lazy_stamp_block(stamps, block, stamp_of(vector, block * most, all));
        } else if (PyGILState_Check()) {
            *next_span(stamps) = (lazy_span){i, count, stamp_of(vector, i, count)};
        }
        i = stop;
    }
}

typedef struct {
    Py_ssize_t compared, touched, budget;
} lazy_comparison;

static void compare_spans(LazyVector *vector, lazy_comparison *counts) {
    lazy_stamps *stamps = vector->stamps;
    for (const lazy_span *span = stamps->span; span < stamps->span + LAZY_SPANS; span++) {
        if (span->count) {
            counts->touched++;
            counts->compared++;
            if (differ(stamp_of(vector, span->start, span->count), span->stamp)) {
                atomic_store(&stamps->changed, 1);
            }
        }
    }
}

static void compare_blocks(LazyVector *vector, lazy_comparison *counts) {
    lazy_stamps *stamps = vector->stamps;
    Py_ssize_t most = lazy_block_length(vector);
    for (Py_ssize_t block = 0; block < stamps->blocks; block++) {
        if (!was_read(stamps, block)) {
            continue;
        }
        counts->touched++;
        if (counts->budget-- > 0 && !atomic_load(&stamps->changed)) {
            Py_ssize_t n = vector->length - block * most;
            lazy_stamp_block(stamps, block, stamp_of(vector, block * most, n < most ? n : most));
            counts->compared++;
        }
    }
}

PyObject *lazy_input_changed(PyObject *self, PyObject *budget) {
    LazyVector *vector = (LazyVector *)self;
    lazy_comparison counts = {0, 0, PyLong_AsSsize_t(budget)};
    int changed = 0;
    if (counts.budget == -1 && PyErr_Occurred()) {
        return NULL;
    }
    for (; vector; vector = lazy_input(vector)) {
        if (vector->stamps) {
            compare_spans(vector, &counts);
            PyThreadState *without = PyEval_SaveThread();
            compare_blocks(vector, &counts);
            PyEval_RestoreThread(without);
            changed |= atomic_load(&vector->stamps->changed);
        }
    }
    return Py_BuildValue("(Nnn)", PyBool_FromLong(changed), counts.compared, counts.touched);
}
