// Whether a result holds an argument's values, judged by a few elements.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_SAMPLES_H
#define INSPECTOR_SAMPLES_H

#include "trace/values/call_values.h"

enum { SAMPLES_COMPARED = 1u << 31, SAMPLES_UNEQUAL = 1u << 30, SAMPLES_WRITTEN = 1u << 29 };
enum { SAMPLES_EQUAL = (1u << CALL_VALUES_MAX) - 1 }; // one bit per argument

enum { SAMPLES_AXES_MAX = 8 };
typedef struct {
    const char *memory; // the element with all indices 0
    PyObject *items;    // borrowed: the list or tuple whose items are the elements; NULL for memory
    int axes;
    Py_ssize_t shape[SAMPLES_AXES_MAX], strides[SAMPLES_AXES_MAX];
    uint64_t count;
    uint32_t item_bytes;
    char kind;
} samples_block;
// The elements of a value, where their kind is one of `kinds` and their place is known: 1, or 0.
int samples_block_of(const call_value *seen, const char *kinds, samples_block *ret);
// The items of a list or tuple, or of the lists in it, as references: 1, or 0.
int samples_items_of(const call_value *seen, samples_block *ret);
// Address of element `at` in C order; NULL where nested lists differ in length.
const char *samples_element(const samples_block *of, uint64_t at);
// Keeps a few elements of memory that a call may write to.
void samples_remember(call_value *seen);
// Whether these elements have changed: SAMPLES_WRITTEN, or 0. `now` is the same object, read again.
uint32_t samples_written(const call_value *before, const call_value *now);
// Marks lists and tuples of ints that are the lengths of the result's axes, not its elements.
void samples_mark_shapes(const call_value *result, call_values *seen);

// Bit i: the result's sampled elements equal those of argument i. SAMPLES_COMPARED where any could be
// compared, SAMPLES_UNEQUAL where one differs.
uint32_t samples_compare(const call_value *result, const call_values *seen);
// Whether the arguments have enough elements to fill the result. `equal`: mask of those that match it.
int samples_fill(const call_value *result, const call_values *seen, uint32_t equal);

#endif
