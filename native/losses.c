// Whether a conversion kept every element: source and result are compared when the call is over, both alive.
//
// An element counts as lost only where the result is exactly what the conversion in C makes of the source:
// 2**40 as int32 is 0, -1 as uint8 is 255, 2**53 + 1 as double is 2**53, 1.7 as int is 1. One element that is
// neither kept nor explained so, and the result is no conversion of that argument: nothing is said. Sources
// are arrays, bytes, and lists and tuples of plain numbers and texts; objects of other types are not read, so
// that no code of theirs runs. COMPARED_MAX elements are looked at, evenly spread; the record says how many.
#define INSPECTOR_INTERNALS
#include "native.h"

#include "losses.h"

#include <math.h>
#include <string.h>

#include "ring.h"
#include "samples.h"

enum { COMPARED_MAX = 1 << 14, SHOWN_BYTES = 8 };
enum {
#define RULE_ID(name) RULE_##name,
    LOSSES_RULES(RULE_ID)
#undef RULE_ID
        RULE_COUNT,
    NOT_CONVERTED = -1
};

// One element. kind: i u f as the bits say, b a truth, n None, t a text, 0 not read.
typedef struct {
    char kind;
    uint64_t bits; // of a double, or a number extended to 64; the first bytes of a text
    __int128 integer;
    double real;
    const void *text;
    Py_ssize_t length; // of a text: characters
    int width;         // of a text: bytes a character
} element;

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

static uint32_t character(const element *of, Py_ssize_t at) {
    return of->width == 1   ? ((const uint8_t *)of->text)[at]
           : of->width == 2 ? ((const uint16_t *)of->text)[at]
                            : ((const uint32_t *)of->text)[at];
}

static element of_text(const void *text, Py_ssize_t length, int width) {
    element made = {.kind = 't', .text = text, .length = length, .width = width};
    char shown[SHOWN_BYTES] = {0};
    for (Py_ssize_t i = 0; i < length && i < SHOWN_BYTES; i++) {
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
    return (element){.kind = object == Py_None ? 'n' : 0};
}

static element read_element(const char *place, char kind, uint32_t bytes) {
    switch (kind << 8 | (int)bytes) {
    case 'b' << 8 | 1:
        return of_integer(AT(uint8_t) != 0, 'b');
    case 'u' << 8 | 1:
        return of_integer(AT(uint8_t), 'u');
    case 'i' << 8 | 1:
        return of_integer(AT(int8_t), 'i');
    case 'i' << 8 | 2:
        return of_integer(AT(int16_t), 'i');
    case 'u' << 8 | 2:
        return of_integer(AT(uint16_t), 'u');
    case 'i' << 8 | 4:
        return of_integer(AT(int32_t), 'i');
    case 'u' << 8 | 4:
        return of_integer(AT(uint32_t), 'u');
    case 'i' << 8 | 8:
        return of_integer(AT(int64_t), 'i');
    case 'u' << 8 | 8:
        return of_integer(AT(uint64_t), 'u');
    case 'f' << 8 | 4:
        return of_real(AT(float));
    case 'f' << 8 | 8:
        return of_real(AT(double));
    case 'O' << 8 | 8:
        return of_object(AT(PyObject *));
    default:
        return kind == 'U' && bytes % 4 == 0 ? of_room(place, bytes, 4)
               : kind == 'S'                 ? of_room(place, bytes, 1)
                                             : (element){.kind = 0};
    }
}

// ----- one element before and after ---------------------------------------------------------------

static int to_integer(const element *before, const element *after, uint32_t bytes) {
    int bits = (int)bytes * 8;
    __int128 lowest = -((__int128)1 << (bits - 1)), wide = (__int128)1 << bits;
    int is_default = after->integer == 0 || after->integer == lowest || after->integer == -lowest;
    if (before->kind == 'n' || (before->kind == 'f' && isnan(before->real))) {
        return is_default ? RULE_null : NOT_CONVERTED;
    }
    if (before->kind == 'f' && (before->real >= (double)wide || before->real < (double)lowest)) {
        return is_default || after->integer == -lowest - 1 ? RULE_overflow : NOT_CONVERTED;
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

static int to_real(const element *before, const element *after, uint32_t bytes) {
    if (before->kind == 'n' || isnan(before->real)) {
        return isnan(after->real) ? RULE_kept : NOT_CONVERTED;
    }
    double nearest = bytes == 4 ? (double)(float)before->real : before->real;
    nearest = bytes == 4 && before->kind != 'f' ? (double)(float)before->integer : nearest;
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

static int judge(const element *before, const element *after, uint32_t bytes) {
    if (!before->kind || !after->kind || (before->kind == 't') != (after->kind == 't')) {
        return NOT_CONVERTED;
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

// ----- all elements -------------------------------------------------------------------------------

typedef struct {
    uint64_t lost, first;
    element before, after;
} loss;

// A column with nulls keeps them in a bitmap beside the values: what became NaN was one.
static int was_null(int told, const element *before, const element *after) {
    return told && after->kind == 'f' && isnan(after->real) && before->kind != 'f';
}

// How many elements were compared; 0 where the result is no conversion of the source.
static uint64_t compare(const samples_block *source, int told, const samples_block *made,
                        loss found[RULE_COUNT]) {
    uint64_t compared = made->count < COMPARED_MAX ? made->count : COMPARED_MAX;
    for (uint64_t i = 0; i < compared; i++) {
        uint64_t at = compared == made->count ? i : i * (made->count - 1) / (compared - 1);
        element before = read_element(samples_element(source, at), source->kind, source->item_bytes);
        element after = read_element(samples_element(made, at), made->kind, made->item_bytes);
        int rule = was_null(told, &before, &after) ? RULE_kept : judge(&before, &after, made->item_bytes);
        if (rule == NOT_CONVERTED) {
            return 0;
        }
        if (!found[rule].lost++) {
            found[rule].first = at;
            found[rule].before = before;
            found[rule].after = after;
        }
    }
    // True for every element that is something tells of nulls only where others show what it means.
    int means = made->kind != 'b' || (found[RULE_kept].lost && found[RULE_kept].after.kind);
    return means ? compared : 0;
}

static int32_t said(const element *of) {
    Py_ssize_t length = of->length < 1 << 20 ? of->length : 1 << 20;
    return (int32_t)(of->kind | length << 8);
}

static void write_one(int rule, const loss *found, uint64_t compared, uint64_t count, const witnessed *source,
                      uint16_t depth) {
    ring_record(&(event){.kind = EVENT_LOSS,
                         .flags = EVENT_FLAG_CONTINUATION | EVENT_FLAG_LOSSY,
                         .depth = (uint8_t)depth,
                         .func = (uint16_t)rule,
                         .slot = source->number,
                         .obj = found->before.bits,
                         .val = found->after.bits,
                         .lasti = said(&found->before),
                         .refs = said(&found->after),
                         .start = found->first,
                         .aux = found->lost,
                         .duration = (uint32_t)compared,
                         .type = (uint32_t)(count < UINT32_MAX ? count : UINT32_MAX)});
}

static int is_items(const witnessed *seen, samples_block *ret) {
    Py_ssize_t items = seen->letter == 'L' && !seen->inside ? spans_items(seen->object) : -1;
    if (items < 1) {
        return 0;
    }
    *ret = (samples_block){.memory = (const char *)PySequence_Fast_ITEMS(seen->object),
                           .axes = 1,
                           .shape = {items},
                           .strides = {sizeof(PyObject *)},
                           .count = (uint64_t)items,
                           .item_bytes = sizeof(PyObject *),
                           .kind = 'O'};
    return 1;
}

static const char readable[] = "biufSU";

void losses_write(const witnessed *made, const witness *seen, uint16_t depth) {
    samples_block result, source;
    if (!samples_block_of(made, readable, &result) || !result.count) {
        return;
    }
    for (int i = 0; i < seen->count; i++) {
        const witnessed *given = &seen->arguments[i];
        if (given->object == made->object ||
            !(is_items(given, &source) || samples_block_of(given, "biufSUO", &source)) ||
            source.count != result.count ||
            (source.kind == result.kind && source.item_bytes <= result.item_bytes)) {
            continue;
        }
        loss found[RULE_COUNT] = {0};
        uint64_t compared = compare(&source, given->told, &result, found);
        for (int rule = RULE_kept + 1; compared && rule < RULE_COUNT; rule++) {
            if (found[rule].lost) {
                write_one(rule, &found[rule], compared, result.count, given, depth);
            }
        }
    }
}

int losses_exec(PyObject *module) {
#define RULE_NAME(name) #name,
    static const char *const names[] = {LOSSES_RULES(RULE_NAME)};
#undef RULE_NAME
    _owned_ PyObject *table = PyTuple_New(RULE_COUNT);
    for (Py_ssize_t i = 0; table && i < RULE_COUNT; i++) {
        PyObject *name = PyUnicode_FromString(names[i]); // given to the table
        if (!name) {
            return -1;
        }
        PyTuple_SET_ITEM(table, i, name);
    }
    return table ? PyModule_AddObjectRef(module, "LOSS_RULES", table) : -1;
}
