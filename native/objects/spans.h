// The bytes of an object as its C struct tells them: nothing of the object's own code runs.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_SPANS_H
#define INSPECTOR_SPANS_H

#include "module/native.h"

// OWNED: the object frees the bytes; LINKED: they come from an allocator inside its library, which no hook
// sees; TOLD: an adapter told of them, not a struct that is read here; LINKS: the library has such an
// allocator, wherever these bytes come from; MORE: the object has more blocks than those that are told.
enum {
    SPAN_C = 1,
    SPAN_F = 2,
    SPAN_READONLY = 4,
    SPAN_OWNED = 8,
    SPAN_LINKED = 16,
    SPAN_TOLD = 32,
    SPAN_LINKS = 64,
    SPAN_MORE = 128
};

enum { SPAN_AXES_MAX = 4, SPAN_DATES = 128 };

// Units of dates and durations in the order of NumPy's NPY_DATETIMEUNIT; 3 has no unit.
#define SPAN_UNITS(UNIT) \
    UNIT(Y) \
    UNIT(M) \
    UNIT(W) UNIT(B) UNIT(D) UNIT(h) UNIT(m) UNIT(s) UNIT(ms) UNIT(us) UNIT(ns) UNIT(ps) UNIT(fs) UNIT(as)

typedef struct {
    uintptr_t start;        // the lowest byte that an element uses
    uint64_t span_bytes;    // from there to the highest
    uint64_t logical_bytes; // elements times their size: less than the span where strides leave gaps
    uint32_t item_bytes;
    char kind;        // NumPy's letters: b i u f c S U V O m M; 0 where the struct does not say
    uint8_t flags;    // SPAN_*
    uint8_t axes;     // of what an adapter told; 0: one, contiguous, or not told
    uint8_t unit;     // of dates and durations: 1 + its number in SPAN_UNITS, SPAN_DATES; 0: none, not told
    uintptr_t origin; // the element with all indices 0
    Py_ssize_t shape[SPAN_AXES_MAX], strides[SPAN_AXES_MAX];
} data_span;

// Learns the types that are told by their struct and that the process has imported by now.
void spans_prepare(void);
// 1 and the span, or 0 for an object whose struct tells of no bytes.
int spans_read(PyObject *object /* borrowed */, data_span *ret);
int spans_read_any(PyObject *object /* borrowed */, data_span *ret); // of subclasses of str and bytes too
int spans_is_ndarray(PyObject *object /* borrowed */);
// The unit of 'M' (dates) or 'm' (durations) and a name as in "datetime64[ns]"; 0 for any other name.
uint8_t spans_unit(char kind, const char *name);
// The items of an exact list or tuple; -1 for anything else.
Py_ssize_t spans_items(PyObject *object /* borrowed */);

#endif
