// The arguments and the result of a call, read from their structs before and after the call.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CALL_VALUES_H
#define INSPECTOR_CALL_VALUES_H

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

#endif
