// The arguments and the result of a call, read from their structs before and after the call.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CALL_VALUES_H
#define INSPECTOR_CALL_VALUES_H

#include "objects/elements.h"
#include "objects/spans.h"
#include "trace/record/convention.h"
#include "trace/record/event.h"
#include "trace/record/plain.h"

enum { CALL_VALUES_MAX = 16, CALL_VALUES_WORDS = 4 };
enum { TEXT_BYTES_LEAST = 4096 }; // PAYLOAD_BYTES of verdicts/copies.py: a shorter text counts as no payload

// The letter of a continuation (its `func`): the kind of argument `slot`, or of the result (OUTPUT).
// LETTER(letter, meaning)
#define CALL_VALUES_LETTERS(LETTER) \
    LETTER('i', "an int; val is its value, aux the number of digits where it has more than 62 bits") \
    LETTER('f', "a float; val is its bits") \
    LETTER('s', "a str of aux characters; val and start hold the first 16 in ASCII") \
    LETTER('y', "aux bytes; val and start hold the first 16") \
    LETTER('b', "True or False") \
    LETTER('n', "None") \
    LETTER('L', "a list or tuple of aux items; val is the first one's type id, start is 1 for a shape") \
    LETTER('D', "a dict of aux items") \
    LETTER('o', "an object of any other type") \
    LETTER('I', "a C integer; start is libffi's type number, aux its bytes, as in the letters below") \
    LETTER('U', "an unsigned C integer") \
    LETTER('F', "a C float or double; val is its bits as a double") \
    LETTER('P', "a C pointer") \
    LETTER('V', "a C struct; val is its first 8 bytes") \
    LETTER('N', "no result")

typedef struct {
    PyObject *object; // borrowed: valid during the call
    uint64_t val, aux, more;
    uint32_t type;  // id in INTERNED
    uint8_t number; // of the argument
    uint8_t inside; // 1: an item of the list or tuple before it
    uint8_t has_span;
    uint8_t further;     // 1: another block of the object before it
    uint8_t is_reported; // 1: an adapter reported the span
    uint8_t is_pending;  // 1: no adapter was called yet; it would report the same after the call
    uint8_t is_shape;    // 1: a list or tuple of ints that are the lengths of the result's axes
    uint8_t letter;
    uint8_t remembered; // 1: `words` are some of its elements before the call
    // Not zeroed at each call, unlike the fields above:
    data_span span;                    // with has_span
    uint64_t words[CALL_VALUES_WORDS]; // with remembered
} call_value;

typedef struct {
    call_value arguments[CALL_VALUES_MAX];
    int count;
    int left_out;       // arguments beyond CALL_VALUES_MAX
    plain_values plain; // numbers among the arguments: they are not in `arguments`
} call_values;

enum { CALL_VALUES_CLOSED, CALL_VALUES_ALL, CALL_VALUES_SAMPLE };
extern int call_values_open __attribute__((visibility("hidden"))); // which calls are recorded
extern int call_values_of_stdlib
    __attribute__((visibility("hidden"))); // 1: also the standard library's calls on bytes objects

void call_values_before(call_convention convention, const uintptr_t words[5], event *record,
                        call_values *ret);
void call_values_after(call_convention convention, const uintptr_t words[5], uintptr_t result, event *record,
                       call_values *seen);

// The kind of one object among a call's arguments and results.
// Reads the object's own struct, as argument `number`.
void value_kind_read(PyObject *object /* borrowed */, uint8_t number, uint8_t inside, call_value *ret);
// Adds the blocks that an adapter reports: the first in entry 0, further ones after it. Returns their number.
int value_kind_report(call_value *ret, int room);
// Both, for a result; `ret` has room for REPORTED_SPANS_MAX.
int value_kind_at(PyObject *object /* borrowed */, call_value *ret);

// Whether a result holds an argument's values, judged by a few elements.
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
    uint8_t unit; // of data_span
} samples_block;
// The elements of a value, where their kind is one of `kinds` and their place is known: 1, or 0.
int samples_block_of(const call_value *seen, const char *kinds, samples_block *ret);
// The items of a list or tuple, or of the lists in it, as references: 1, or 0.
int samples_items_of(const call_value *seen, samples_block *ret);
// Address of element `at` in C order; NULL where nested lists differ in length.
const char *samples_element(const samples_block *of, uint64_t at);
// The element at `place`, to be compared with one of `other`.
element samples_read(const char *place, const samples_block *of, const samples_block *other);
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

// Elements that a conversion lost, found by comparing source and result.
// Writes a LOSS continuation for each argument and rule where `made` does not hold the argument's elements.
void losses_write(const call_value *made, const call_values *seen, uint16_t depth);

// The same for an array that a call filled with one of the numbers among its arguments.
void losses_filled(const call_value *made, const plain_values *plain, uint16_t depth);

// The same for one number or text that a C-API function converted: `value` has `bytes` bytes and is what C
// got of `object`. kind: u unchecked unsigned, f float, t text that ends at its first NUL. Allocates nothing.
void losses_scalar(PyObject *object /* borrowed */, const void *value, uint32_t bytes, char kind,
                   uint32_t argument, uint16_t depth);

// Destructors of capsules and finalizers of objects, as events.
typedef void (*finalize_call)(PyObject *object);

// Calls the replaced function for an object that it may free, and records what ran and how long.
void finalize_enter(finalize_call original, PyObject *object /* borrowed */, int kind, uint32_t number);

#endif
