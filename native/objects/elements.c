// An element read from its bytes or from a plain object, and judged: kept, changed by a rule of C, or
// another.
//
// Only objects of the exact types int, float, bool, bytes, str and None are read: no code of theirs runs.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "objects/elements.h"
#include "objects/spans.h"

#include <math.h>

#define AT(ctype) \
    ({ \
        ctype found; \
        memcpy(&found, place, sizeof found); \
        found; \
    })

static element of_integer(__int128 number, char kind) {
    return (element){.kind = kind, .bits = (uint64_t)number, .integer = number, .real = (double)number};
}

static element of_real(double number) {
    element made = {.kind = 'f', .real = number};
    memcpy(&made.bits, &number, sizeof number);
    return made;
}

static element of_complex(double real, double imaginary) {
    element made = {.kind = 'c', .real = real, .imaginary = imaginary};
    float shown[] = {(float)real, (float)imaginary};
    memcpy(&made.bits, shown, sizeof made.bits);
    return made;
}

// IEEE 754's binary16: not every compiler has a type for it.
static double of_half(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                  : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                 : ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

static uint32_t character(const element *of, Py_ssize_t at) {
    return of->width == 1   ? ((const uint8_t *)of->text)[at]
           : of->width == 2 ? ((const uint16_t *)of->text)[at]
                            : ((const uint32_t *)of->text)[at];
}

static element of_text(const void *text, Py_ssize_t length, int width) {
    element made = {.kind = 't', .text = text, .length = length, .width = width};
    char shown[ELEMENT_SHOWN_BYTES] = {0};
    for (Py_ssize_t i = 0; i < length && i < ELEMENT_SHOWN_BYTES; i++) {
        uint32_t one = character(&made, i);
        shown[i] = one < 128 ? (char)one : '?';
    }
    memcpy(&made.bits, shown, sizeof shown);
    return made;
}

// A text of fixed size: NumPy takes NULs at its end for room.
static element of_room(const char *place, uint32_t bytes, int width) {
    element made = {.text = place, .width = width, .length = (Py_ssize_t)bytes / width};
    while (made.length && !character(&made, made.length - 1)) {
        made.length--;
    }
    return of_text(place, made.length, width);
}

static element of_place(const char *place, char kind, uint32_t bytes);

// numpy/arrayscalars.h: the value lies behind the object's head. The types are static, and so are their
// names.
static element of_scalar(PyObject *object) {
    static const struct {
        const char *name;
        char kind;
        uint8_t bytes;
    } types[] = {{"numpy.int64", 'i', 8},   {"numpy.float64", 'f', 8}, {"numpy.int32", 'i', 4},
                 {"numpy.float32", 'f', 4}, {"numpy.bool", 'b', 1},    {"numpy.bool_", 'b', 1},
                 {"numpy.uint8", 'u', 1},   {"numpy.uint64", 'u', 8},  {"numpy.uint32", 'u', 4},
                 {"numpy.int16", 'i', 2},   {"numpy.uint16", 'u', 2},  {"numpy.int8", 'i', 1}};
    PyTypeObject *type = object ? Py_TYPE(object) : NULL;
    if (!type || type->tp_flags & Py_TPFLAGS_HEAPTYPE || strncmp(type->tp_name, "numpy.", 6) != 0) {
        return (element){.kind = 0};
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(type->tp_name, types[i].name) == 0) {
            return of_place((const char *)(object + 1), types[i].kind, types[i].bytes);
        }
    }
    return (element){.kind = 0};
}

static element of_object(PyObject *object) {
    PyTypeObject *type = object ? Py_TYPE(object) : NULL;
    if (type == &PyLong_Type && compat_int_digits(object) <= 2) {
        return of_integer(PyLong_AsLongLong(object), 'i'); // at most 60 bits: it cannot fail
    }
    if (type == &PyFloat_Type) {
        return of_real(PyFloat_AS_DOUBLE(object));
    }
    if (type == &PyBool_Type) {
        return of_integer(object == Py_True, 'b');
    }
    if (type == &PyBytes_Type) {
        return of_text(PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object), 1);
    }
    if (type == &PyUnicode_Type && PyUnicode_IS_READY(object)) {
        return of_text(PyUnicode_DATA(object), PyUnicode_GET_LENGTH(object), PyUnicode_KIND(object));
    }
    return object == Py_None ? (element){.kind = 'n'} : of_scalar(object);
}

#define CASE(kind, bytes, made) \
    case kind << 8 | bytes: \
        return made;

static element of_place(const char *place, char kind, uint32_t bytes) {
    switch (kind << 8 | (int)bytes) {
        CASE('b', 1, of_integer(AT(uint8_t) != 0, 'b'))
        CASE('u', 1, of_integer(AT(uint8_t), 'u'))
        CASE('i', 1, of_integer(AT(int8_t), 'i'))
        CASE('i', 2, of_integer(AT(int16_t), 'i'))
        CASE('u', 2, of_integer(AT(uint16_t), 'u'))
        CASE('i', 4, of_integer(AT(int32_t), 'i'))
        CASE('u', 4, of_integer(AT(uint32_t), 'u'))
        CASE('i', 8, of_integer(AT(int64_t), 'i'))
        CASE('u', 8, of_integer(AT(uint64_t), 'u'))
        CASE('f', 2, of_real(of_half(AT(uint16_t))))
        CASE('f', 4, of_real(AT(float)))
        CASE('f', 8, of_real(AT(double)))
        CASE('c', 8, of_complex(AT(float), *(const float *)(const void *)(place + sizeof(float))))
        CASE('c', 16, of_complex(AT(double), *(const double *)(const void *)(place + sizeof(double))))
    default:
        return kind == 'U' && bytes % 4 == 0 ? of_room(place, bytes, 4)
               : kind == 'S'                 ? of_room(place, bytes, 1)
                                             : (element){.kind = 0};
    }
}

element elements_read(const char *place, char kind, uint32_t bytes) {
    return kind == 'O' && bytes == sizeof(PyObject *) ? of_object(AT(PyObject *))
                                                      : of_place(place, kind, bytes);
}

// Attoseconds of a week, of a day and so on, by SPAN_UNITS; 0 for months, years and no unit.
static __int128 length_of(uint8_t unit) {
    static const uint32_t seconds[] = {0, 0, 604800, 0, 86400, 3600, 60, 1};
    enum { WHOLE = sizeof seconds / sizeof *seconds, LAST = 14 };
    int number = (unit & ~SPAN_DATES) - 1;
    __int128 found = number < 0 ? 0 : number < WHOLE ? seconds[number] : 1;
    for (int i = number < WHOLE ? WHOLE - 1 : number; i < LAST - 1 && found; i++) {
        found *= 1000;
    }
    return found;
}

element elements_read_timed(const char *place, uint32_t bytes, uint8_t unit) {
    element made = of_place(place, 'i', bytes);
    made.kind = !length_of(unit) || bytes < 4 ? 0 : unit & SPAN_DATES ? 'M' : 'm';
    made.unit = unit;
    return made;
}

// `ratio` units of the result are one of the source: what has no room loses its upper bits.
static int to_shorter(const element *before, const element *after, __int128 ratio) {
    __int128 whole;
    int is_out = __builtin_mul_overflow(before->integer, ratio, &whole) || whole != (int64_t)whole;
    uint64_t low = before->bits * (uint64_t)ratio;
    return low != after->bits ? NOT_CONVERTED : is_out ? RULE_overflow : RULE_kept;
}

// `ratio` units of the source are one of the result: rounded down, toward zero or to the nearest.
static int to_longer(const element *before, const element *after, __int128 ratio) {
    __int128 rest = before->integer % ratio;
    __int128 floor = before->integer / ratio - (rest < 0), above = after->integer - floor;
    if (!rest) {
        return above ? NOT_CONVERTED : RULE_kept;
    }
    int is_nearest = 2 * (rest < 0 ? rest + ratio : rest) >= ratio;
    return above == 0 || (above == 1 && (rest < 0 || is_nearest)) ? RULE_fraction : NOT_CONVERTED;
}

static int to_unit(const element *before, const element *after) {
    if (before->integer == INT64_MIN || after->integer == INT64_MIN) { // NaT
        return before->integer == after->integer ? RULE_kept : NOT_CONVERTED;
    }
    __int128 from = length_of(before->unit), to = length_of(after->unit);
    return to > from ? to_longer(before, after, to / from) : to_shorter(before, after, from / to);
}

// Of a double that the target has no room for, what a processor makes: its least or greatest number, zero, or
// the low bits of an int of 64 bits, as where the target is a narrower word.
static int is_beyond(double before, const element *after, int bits) {
    __int128 lowest = -((__int128)1 << (bits - 1)), wide = (__int128)1 << bits;
    __int128 whole = fabs(before) < 0x1p63 ? (__int128)trunc(before) : 0;
    return after->integer == lowest || after->integer == -lowest || after->integer == -lowest - 1 ||
           after->integer == wide - 1 || ((whole - after->integer) & (wide - 1)) == 0;
}

static int to_integer(const element *before, const element *after, uint32_t bytes) {
    int bits = (int)bytes * 8;
    __int128 lowest = -((__int128)1 << (bits - 1)), wide = (__int128)1 << bits;
    int is_default = after->integer == 0 || after->integer == lowest || after->integer == -lowest;
    if (before->kind == 'n' || (before->kind == 'f' && isnan(before->real))) {
        return is_default ? RULE_null : NOT_CONVERTED;
    }
    if (before->kind == 'f' && (before->real >= (double)wide || before->real < (double)lowest)) {
        return is_default || is_beyond(before->real, after, bits) ? RULE_overflow : NOT_CONVERTED;
    }
    __int128 whole = before->kind == 'f' ? (__int128)trunc(before->real) : before->integer;
    if (((whole - after->integer) & (wide - 1)) != 0) {
        return NOT_CONVERTED;
    }
    if (whole != after->integer) {
        return whole >= lowest && whole < wide ? RULE_sign : RULE_overflow;
    }
    return before->kind == 'f' && before->real != (double)whole ? RULE_fraction : RULE_kept;
}

static double nearest_half(double number) {
    int exponent = 0;
    frexp(number, &exponent);
    double unit = ldexp(1, exponent > -13 ? exponent - 11 : -24);
    double found = isfinite(number) ? nearbyint(number / unit) * unit : number;
    return fabs(found) > 65504 ? copysign(INFINITY, number) : found;
}

// `single`: the number as a float, where a half is made of it.
static double nearest_of(const element *before, uint32_t bytes, double single) {
    return bytes == 2   ? nearest_half(single)
           : bytes == 4 ? before->kind == 'f' ? (double)(float)before->real : (double)(float)before->integer
                        : before->real;
}

static int to_real(const element *before, const element *after, uint32_t bytes) {
    if (before->kind == 'n' || isnan(before->real)) {
        return isnan(after->real) ? RULE_kept : NOT_CONVERTED;
    }
    double nearest = nearest_of(before, bytes, before->real);
    if (after->real != nearest) { // torch makes a half of a double in two steps
        nearest = nearest_of(before, bytes, (float)before->real);
    }
    if (after->real != nearest) {
        return NOT_CONVERTED;
    }
    if (isinf(nearest)) {
        return isinf(before->real) ? RULE_kept : RULE_overflow;
    }
    int exact = before->kind == 'f' ? before->real == nearest : (__int128)nearest == before->integer;
    return exact ? RULE_kept : RULE_precision;
}

static int to_truth(const element *before, const element *after) {
    if (before->kind == 'n' || isnan(before->real)) {
        return RULE_null;
    }
    return (before->real != 0) == (after->integer != 0) ? RULE_kept : NOT_CONVERTED;
}

static int to_text(const element *before, const element *after) {
    for (Py_ssize_t i = 0; i < after->length; i++) {
        if (i >= before->length || character(before, i) != character(after, i)) {
            return NOT_CONVERTED;
        }
    }
    for (Py_ssize_t i = after->length; i < before->length; i++) {
        if (character(before, i)) {
            return RULE_cut;
        }
    }
    return before->length == after->length ? RULE_kept : RULE_embedded_nul;
}

int elements_judge(const element *before, const element *after, uint32_t bytes) {
    if (!before->kind || !after->kind || (before->kind == 't') != (after->kind == 't')) {
        return NOT_CONVERTED;
    }
    if (before->unit || after->unit) {
        return before->kind == after->kind ? to_unit(before, after) : NOT_CONVERTED;
    }
    if (before->kind == 'c') { // a conversion drops the imaginary part
        element real = of_real(before->real);
        int rule = elements_judge(&real, after, bytes);
        return rule != NOT_CONVERTED && before->imaginary != 0 ? RULE_imaginary : rule;
    }
    switch (after->kind) {
    case 'i':
    case 'u':
        return to_integer(before, after, bytes);
    case 'f':
        return to_real(before, after, bytes);
    case 'b':
        return to_truth(before, after);
    case 't':
        return to_text(before, after);
    default:
        return NOT_CONVERTED;
    }
}
