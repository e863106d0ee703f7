// Walks the format of a variadic call alongside a copy of its arguments, and records each value.
//
// There are three format languages: PyArg_Parse's (Doc/c-api/arg.rst), Py_BuildValue's (the same page), and
// PyUnicode_FromFormat's (Doc/c-api/unicode.rst). An unknown unit ends the walk: what follows could be
// misread. A parsed value is read through the caller's pointer after the call has succeeded. An optional
// argument that the caller omitted is not read. Where some arguments were passed by name it is not known
// which were omitted, so values that may be defaults are marked ESTIMATED.
// SPDX-License-Identifier: MIT
#include "trace/capi/hooks.h"
#include "trace/record/ring.h"
#include "trace/values/call_values.h"

static void put(format_walk *walk, char unit, uint64_t value, uint16_t flags) {
    hook_value(walk->call, walk->number++, unit, value, flags);
}

static void put_text(format_walk *walk, const char *start, Py_ssize_t length) {
    if (walk->deep) {
        hook_text(walk->call, start, length);
    }
}

// Records what an unchecked unit, or a C float, loses of the argument `at`.
static void put_loss(const format_walk *walk, char unit, uint64_t number, uint32_t at) {
    if (!walk->items || at >= walk->positional) {
        return;
    }
    PyObject *object = walk->items[at];
    uint16_t depth = ring_depth_byte(walk->call->depth);
    uint32_t bytes = unit == 'B' ? 1 : unit == 'H' ? 2 : unit == 'I' ? 4 : strchr("kK", unit) ? 8 : 0;
    double real;
    memcpy(&real, &number, sizeof real);
    float narrow = unit == 'f' ? (float)real : 0;
    if (bytes) {
        losses_scalar(object, &number, bytes, 'u', at + 1, depth);
    } else if (unit == 'f') {
        losses_scalar(object, &narrow, sizeof narrow, 'f', at + 1, depth);
    } else if (unit == 'd' && !PyFloat_CheckExact(object)) {
        losses_scalar(object, &real, sizeof real, 'f', at + 1, depth);
    }
}

static uint64_t double_bits(double value) { return HOOK_WORD(value); }

// How wide the number of a unit is: of what a parse stores, and of what a build is given.
enum { NO_NUMBER, BYTE, SHORT, USHORT, INT, UINT, WORD, CHAR, FLOAT, DOUBLE, COMPLEX };
static const uint8_t number_of[256] = {
    ['b'] = BYTE, ['B'] = BYTE, ['h'] = SHORT, ['H'] = USHORT, ['i'] = INT,     ['C'] = INT,
    ['p'] = INT,  ['I'] = UINT, ['l'] = WORD,  ['k'] = WORD,   ['L'] = WORD,    ['K'] = WORD,
    ['n'] = WORD, ['c'] = CHAR, ['f'] = FLOAT, ['d'] = DOUBLE, ['D'] = COMPLEX,
};

// The number that a parse unit stored: returns 1, or 0 where the unit is not a number.
static int parse_number(format_walk *walk, char unit, uint64_t *ret) {
#define STORED(width, ctype) \
    case width: \
        *ret = (uint64_t)*va_arg(walk->values, ctype *); \
        return 1;
    switch (number_of[(unsigned char)unit]) {
        STORED(BYTE, unsigned char)
        STORED(SHORT, short)
        STORED(USHORT, unsigned short)
        STORED(INT, int)
        STORED(UINT, unsigned int)
        STORED(WORD, long long)
        STORED(CHAR, char)
    case FLOAT:
        *ret = double_bits((double)*va_arg(walk->values, float *));
        return 1;
    case DOUBLE:
    case COMPLEX: // the real part comes first
        *ret = double_bits(*va_arg(walk->values, double *));
        return 1;
    default:
        return 0;
    }
}

// s, z, y, w, u, Z with their suffixes: returns the length of the unit in the format.
static int parse_string(format_walk *walk, const char *unit, int read, uint16_t flags) {
    if (unit[1] == '*') {
        Py_buffer *view = va_arg(walk->values, Py_buffer *);
        if (read) {
            put(walk, unit[0], (uint64_t)view->buf, flags);
            hook_buffer(walk->call, view);
        }
        return 2;
    }
    char **start = va_arg(walk->values, char **);
    Py_ssize_t *length = unit[1] == '#' ? va_arg(walk->values, Py_ssize_t *) : NULL;
    if (read) {
        put(walk, unit[0], (uint64_t)*start, flags);
        if (unit[0] != 'u' && unit[0] != 'Z') {
            put_text(walk, *start, length ? *length : -1);
        }
    }
    return length ? 2 : 1;
}

// es, et, es#, et#: the first of their arguments is the encoding's name.
static int parse_encoded(format_walk *walk, const char *unit, int read, uint16_t flags) {
    (void)va_arg(walk->values, char *);
    char **start = va_arg(walk->values, char **);
    Py_ssize_t *length = unit[1] && unit[2] == '#' ? va_arg(walk->values, Py_ssize_t *) : NULL;
    if (read) {
        put(walk, unit[0], (uint64_t)*start, flags);
        put_text(walk, *start, length ? *length : -1);
    }
    return unit[1] ? length ? 3 : 2 : 1;
}

static int parse_object(format_walk *walk, const char *unit, int read, uint16_t flags) {
    int length = 1;
    if (unit[0] == 'O' && (unit[1] == '!' || unit[1] == '&')) {
        (void)va_arg(walk->values, void *); // the type, or the converter
        length = 2;
    }
    PyObject **stored = va_arg(walk->values, PyObject **);
    if (read) { // the type behind a converter's pointer is not known: record the pointer
        put(walk, unit[0], unit[1] == '&' ? (uint64_t)stored : (uint64_t)*stored, flags);
    }
    return length;
}

// One unit of argument `at`: returns its length, or 0 where it is unknown. `read`: its value was stored.
static int parse_unit(format_walk *walk, const char *unit, int read, uint16_t flags, uint32_t at) {
    uint64_t number;
    if (strchr("szywuZ", unit[0])) {
        return parse_string(walk, unit, read, flags);
    }
    if (unit[0] == 'e') {
        return parse_encoded(walk, unit, read, flags);
    }
    if (strchr("OSUY", unit[0])) {
        return parse_object(walk, unit, read, flags);
    }
    if (!read) { // skip a pointer of any type
        int known = number_of[(unsigned char)unit[0]] != NO_NUMBER;
        if (known) {
            (void)va_arg(walk->values, void *);
        }
        return known;
    }
    if (!parse_number(walk, unit[0], &number)) {
        return 0;
    }
    put(walk, unit[0], number, flags);
    put_loss(walk, unit[0], number, at);
    return 1;
}

void format_walk_parse(format_walk *walk, const char *format) {
    int optional = 0, nested = 0;
    uint32_t at = 0; // arguments of the outer level so far: a nested tuple counts as one
    for (int length; *format && *format != ':' && *format != ';'; format += length) {
        length = 1;
        if (*format == '|' || *format == '$') {
            optional |= *format == '|';
        } else if (*format == '(') {
            nested++;
        } else if (*format == ')') {
            at += --nested == 0;
        } else {
            int certain = !optional || at < walk->positional;
            length = parse_unit(walk, format, certain || walk->named,
                                EVENT_FLAG_OUTPUT | (certain ? 0 : EVENT_FLAG_ESTIMATED),
                                nested ? UINT32_MAX : at);
            at += nested == 0;
            if (!length) {
                return;
            }
        }
    }
}

static int build_number(format_walk *walk, char unit, uint64_t *ret) {
    switch (number_of[(unsigned char)unit]) {
    case BYTE:
    case SHORT:
    case INT:
    case CHAR:
        *ret = (uint64_t)va_arg(walk->values, int);
        return 1;
    case USHORT:
    case UINT:
        *ret = va_arg(walk->values, unsigned int);
        return 1;
    case WORD:
        *ret = va_arg(walk->values, uint64_t);
        return 1;
    case FLOAT:
    case DOUBLE:
        *ret = double_bits(va_arg(walk->values, double));
        return 1;
    case COMPLEX:
        *ret = double_bits(va_arg(walk->values, Py_complex *)->real);
        return 1;
    default:
        return 0;
    }
}

void format_walk_build(format_walk *walk, const char *format) {
    uint64_t number;
    for (; *format; format++) {
        char unit = *format;
        if (strchr("()[]{}:, \t", unit)) {
            continue;
        }
        if (build_number(walk, unit, &number)) {
            put(walk, unit, number, 0);
        } else if (strchr("OSN", unit)) {
            if (format[1] == '&') {
                (void)va_arg(walk->values, void *);
                format++;
            }
            put(walk, unit, (uint64_t)va_arg(walk->values, void *), unit == 'N' ? EVENT_FLAG_STOLEN : 0);
        } else if (strchr("szyUu", unit)) {
            char *start = va_arg(walk->values, char *);
            int sized = format[1] == '#';
            Py_ssize_t length = sized ? va_arg(walk->values, Py_ssize_t) : -1;
            format += sized;
            put(walk, unit, (uint64_t)start, 0);
            put_text(walk, unit == 'u' ? NULL : start, length);
        } else {
            return;
        }
    }
}

// A number that printf would read; `wide` counts the modifiers l, z, t and j.
static uint64_t print_number(format_walk *walk, char unit, int wide) {
    if (wide) {
        return va_arg(walk->values, uint64_t);
    }
    int is_signed = unit == 'd' || unit == 'i' || unit == 'c';
    return is_signed ? (uint64_t)va_arg(walk->values, int) : va_arg(walk->values, unsigned int);
}

// One %unit: returns 1, or 0 where it is unknown.
static int print_unit(format_walk *walk, char unit, int wide, Py_ssize_t precision) {
    if (strchr("diuxXoc", unit)) {
        put(walk, strchr("dic", unit) ? 'L' : 'K', print_number(walk, unit, wide), 0);
    } else if (unit == 's') {
        char *start = va_arg(walk->values, char *);
        put(walk, unit, (uint64_t)start, 0);
        put_text(walk, wide ? NULL : start,
                 precision < 0 ? -1 : (Py_ssize_t)strnlen(start, (size_t)precision));
    } else if (strchr("pASRUTN", unit)) {
        put(walk, unit, (uint64_t)va_arg(walk->values, void *), 0);
    } else if (unit == 'V') {
        put(walk, unit, (uint64_t)va_arg(walk->values, void *), 0);
        (void)va_arg(walk->values, char *);
    } else {
        return unit == '%';
    }
    return 1;
}

void format_walk_print(format_walk *walk, const char *format) {
    while ((format = strchr(format, '%')) != NULL) {
        int wide = 0;
        Py_ssize_t precision = -1;
        for (format++; *format && strchr("-#0123456789.* lztj", *format); format++) {
            wide += strchr("lztj", *format) != NULL;
            if (*format == '*') {
                int star = va_arg(walk->values, int);
                precision = format[-1] == '.' ? star : precision;
            } else if (*format == '.') {
                precision = 0;
            } else if (precision >= 0 && *format >= '0' && *format <= '9') {
                precision = precision * 10 + (*format - '0');
            }
        }
        if (!*format || !print_unit(walk, *format, wide, precision)) {
            return;
        }
        format++;
    }
}
