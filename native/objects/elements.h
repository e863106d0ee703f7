// One element of an array, a list or a text, and what a conversion in C makes of it.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_ELEMENTS_H
#define INSPECTOR_ELEMENTS_H

#include "module/native.h"

// RULE(name): appended to, never reordered: stored traces hold the numbers.
#define LOSSES_RULES(RULE) \
    RULE(kept) \
    RULE(overflow) \
    RULE(sign) RULE(precision) RULE(fraction) RULE(null) RULE(embedded_nul) RULE(cut) RULE(imaginary)

#define RULE_ID(name) RULE_##name,
enum { LOSSES_RULES(RULE_ID) RULE_COUNT, NOT_CONVERTED = -1 };

enum { ELEMENT_SHOWN_BYTES = 8 };

// kind: i u f c M m as the bits say, b a truth, n None, t a text, 0 not read.
typedef struct {
    char kind;
    uint8_t unit;  // of data_span: 0 where it is no date or duration
    uint64_t bits; // of a double, a number extended to 64, two floats; the first bytes of a text
    __int128 integer;
    double real, imaginary;
    const void *text;
    Py_ssize_t length; // of a text: characters
    int width;         // of a text: bytes a character
} element;

// kind: NumPy's letter. 0 as the element's kind: it cannot be read, or is an object whose code would run.
element elements_read(const char *place, char kind, uint32_t bytes);
// A date or a duration: an int of 4 or 8 bytes that counts units of fixed length.
element elements_read_timed(const char *place, uint32_t bytes, uint8_t unit);
// The rule by which `after`, of so many bytes, is what C makes of `before`; NOT_CONVERTED where it is not.
int elements_judge(const element *before, const element *after, uint32_t bytes);

#endif
