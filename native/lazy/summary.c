// Summaries that need no data2: sum, mean, min, max, is_sorted, no_na, selected elements.
//
// In order of cost: a closed form (arange), the answer of the provider (lazy/lazy.h), one fused pass over the
// input (absolute values of doubles: one read of memory, no writes), else block by block in 128 KB of scratch
// memory. Sums of floats are accumulated in `long double` across blocks.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"

#include <math.h>

typedef struct {
    long double real;
    lazy_number total;
} lazy_total;

static int fold_sum(const lazy_kind *kind, const void *block, Py_ssize_t i, Py_ssize_t n, void *state) {
    lazy_total *total = state;
    if (kind->family == 'f') {
        double sum = 0;
        kind->sum_real(block, n, &sum);
        total->real += sum;
    } else {
        kind->sum(block, n, &total->total);
    }
    return 0;
}

static int fold_real(const lazy_kind *kind, const void *block, Py_ssize_t i, Py_ssize_t n, void *state) {
    double sum = 0;
    kind->sum_real(block, n, &sum);
    ((lazy_total *)state)->real += sum;
    return 0;
}

// Contiguous doubles in the input, plain or absolute: read once, and stamped in the same pass.
static int is_fusable(LazyVector *vector) {
    return vector->source.obj && vector->start == (Py_ssize_t)sizeof(double) && vector->kind->family == 'f' &&
           vector->kind->itemsize == 8 && lazy_state_of(vector) != LAZY_DONE;
}

static void sum_fused(LazyVector *vector, lazy_total *total) {
    Py_ssize_t most = lazy_block_length(vector);
    const double *all = vector->source.buf;
    for (Py_ssize_t i = 0; i < vector->length; i += most) {
        Py_ssize_t n = vector->length - i < most ? vector->length - i : most;
        double sum = 0;
        lazy_stamp stamp = lazy_sum_f64_stamped(all + i, n, vector->recipe == LAZY_ABS, &sum);
        if (n > 1) {
            lazy_stamp_block(vector->stamps, i / most, stamp);
        }
        total->real += sum;
    }
}

static int total_of(LazyVector *vector, int real, lazy_total *total) {
    if (!is_fusable(vector)) {
        return lazy_each_block(vector, real ? fold_real : fold_sum, total);
    }
    if (lazy_prepare(vector) < 0) {
        return -1;
    }
    PyThreadState *released = lazy_release_gil(vector);
    sum_fused(vector, total);
    lazy_take_gil(released);
    return 0;
}

static PyObject *number_of(const lazy_kind *kind, const lazy_number *number) {
    return kind->family == 'f'   ? PyFloat_FromDouble(number->real)
           : kind->family == 'u' ? PyLong_FromUnsignedLongLong(number->natural)
                                 : PyLong_FromLongLong(number->whole);
}

static int is_integer_arange(const LazyVector *vector) {
    return vector->recipe == LAZY_ARANGE && vector->kind->family != 'f' && !vector->written;
}

// n * first + step * n (n - 1) / 2, modulo 2**64 as NumPy's sum.
static uint64_t arange_sum(const LazyVector *vector) {
    unsigned __int128 n = (unsigned __int128)vector->length, pairs = n ? n * (n - 1) / 2 : 0;
    return (uint64_t)n * vector->first.natural + (uint64_t)pairs * vector->by.natural;
}

// Checks a provider's answer: 1 known, 0 unknown, -1 with an exception set.
static int check_answer(LazyVector *vector, int answer) {
    if (answer < 0 && !PyErr_Occurred()) {
        lazy_refuse("foreign_failed",
                    Py_BuildValue("(znni)", vector->provider->name, (Py_ssize_t)0, vector->length, answer));
    }
    return answer < 0 ? -1 : answer;
}

static int provider_value(LazyVector *vector, int (*hook)(void *, void *), void *out) {
    return check_answer(vector, hook && !vector->written ? hook(vector->provider->context, out) : 0);
}

static int provider_flag(LazyVector *vector, int (*hook)(void *, int *), int *out) {
    return check_answer(vector, hook && !vector->written ? hook(vector->provider->context, out) : 0);
}

static PyObject *vector_sum(PyObject *self, PyObject *unused) {
    LazyVector *vector = (LazyVector *)self;
    lazy_total total = {0};
    if (is_integer_arange(vector)) {
        total.total.natural = arange_sum(vector);
        return number_of(vector->kind, &total.total);
    }
    int answer = vector->provider ? provider_value(vector, vector->provider->sum, &total.total) : 0;
    if (answer < 0 || (!answer && total_of(vector, 0, &total) < 0)) {
        return NULL;
    }
    if (!answer && vector->kind->family == 'f') {
        total.total.real = (double)total.real;
    }
    return number_of(vector->kind, &total.total);
}

static PyObject *vector_mean(PyObject *self, PyObject *unused) {
    LazyVector *vector = (LazyVector *)self;
    lazy_total total = {0};
    if (vector->provider && vector->provider->sum) {
        _owned_ PyObject *sum = vector_sum(self, NULL);
        _owned_ PyObject *length = PyLong_FromSsize_t(vector->length ? vector->length : 1);
        return sum && length ? PyNumber_TrueDivide(sum, length) : NULL;
    }
    if (total_of(vector, 1, &total) < 0) {
        return NULL;
    }
    return PyFloat_FromDouble(vector->length ? (double)(total.real / vector->length) : (double)NAN);
}

typedef struct {
    uint64_t least, most; // elements
    int nan;
} lazy_extremes;

static int fold_least(const lazy_kind *kind, const void *block, Py_ssize_t i, Py_ssize_t n, void *state) {
    lazy_extremes *found = state;
    if (i == 0) {
        memcpy(&found->least, block, (size_t)kind->itemsize);
        found->most = found->least;
    }
    kind->least(block, n, &found->least, &found->most, &found->nan);
    return found->nan; // a NaN makes the result NaN
}

static PyObject *extreme(LazyVector *vector, int greatest) {
    lazy_extremes found = {0};
    inspector_lazy_provider *provider = vector->provider;
    if (!vector->length) {
        return PyErr_Format(PyExc_ValueError, "%s of a lazy vector of length 0", greatest ? "max" : "min");
    }
    int answer =
        provider ? provider_value(vector, greatest ? provider->max : provider->min, &found.least) : 0;
    if (answer) {
        return answer < 0 ? NULL : lazy_box(vector->kind, &found.least);
    }
    if (is_integer_arange(vector)) {
        int last = greatest ? vector->by.whole >= 0 : vector->by.whole < 0;
        lazy_elt(vector, last ? vector->length - 1 : 0, &found.least);
        return lazy_box(vector->kind, &found.least);
    }
    if (lazy_each_block(vector, fold_least, &found) < 0) {
        return NULL;
    }
    return found.nan ? PyFloat_FromDouble((double)NAN)
                     : lazy_box(vector->kind, greatest ? &found.most : &found.least);
}

static PyObject *vector_min(PyObject *self, PyObject *unused) { return extreme((LazyVector *)self, 0); }
static PyObject *vector_max(PyObject *self, PyObject *unused) { return extreme((LazyVector *)self, 1); }

typedef struct {
    int holds;
    char border[16]; // the last element of the block before, and the first of this one
} lazy_order;

static int fold_order(const lazy_kind *kind, const void *block, Py_ssize_t i, Py_ssize_t n, void *state) {
    lazy_order *order = state;
    size_t size = (size_t)kind->itemsize;
    memcpy(order->border + size, block, size);
    order->holds = (i == 0 || kind->sorted(order->border, 2)) && kind->sorted(block, n);
    memcpy(order->border, (const char *)block + (n - 1) * kind->itemsize, size);
    return !order->holds;
}

static PyObject *vector_is_sorted(PyObject *self, PyObject *unused) {
    LazyVector *vector = (LazyVector *)self;
    lazy_order order = {.holds = 1};
    int answer = vector->provider ? provider_flag(vector, vector->provider->is_sorted, &order.holds) : 0;
    if (!answer && is_integer_arange(vector)) {
        return PyBool_FromLong(vector->length < 2 || vector->by.whole >= 0);
    }
    if (answer < 0 || (!answer && lazy_each_block(vector, fold_order, &order) < 0)) {
        return NULL;
    }
    return PyBool_FromLong(order.holds);
}

static int fold_nan(const lazy_kind *kind, const void *block, Py_ssize_t i, Py_ssize_t n, void *state) {
    return *(int *)state |= kind->has_nan(block, n);
}

static PyObject *vector_no_na(PyObject *self, PyObject *unused) {
    LazyVector *vector = (LazyVector *)self;
    int nan = 0, none = 1;
    int answer = vector->provider ? provider_flag(vector, vector->provider->no_na, &none) : 0;
    if (!answer && vector->kind->has_nan && (vector->recipe != LAZY_ARANGE || vector->written)) {
        answer = lazy_each_block(vector, fold_nan, &nan);
    }
    return answer < 0 ? NULL : PyBool_FromLong(none && !nan);
}

PyMethodDef lazy_summary_methods[] = {
    {"sum", vector_sum, METH_NOARGS, NULL},
    {"mean", vector_mean, METH_NOARGS, NULL},
    {"min", vector_min, METH_NOARGS, NULL},
    {"max", vector_max, METH_NOARGS, NULL},
    {"is_sorted", vector_is_sorted, METH_NOARGS, NULL},
    {"no_na", vector_no_na, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
