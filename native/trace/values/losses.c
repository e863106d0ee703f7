// Whether a conversion kept every element: compares source and result after the call, while both are alive.
//
// An element counts as lost only where the result is exactly what C's conversion makes of the source: 2**40
// as int32 is 0, -1 as uint8 is 255, 2**53 + 1 as double is 2**53, 1.7 as int is 1. If one element is neither
// kept nor lost so, the result is no conversion of that argument and nothing is reported. Sources are arrays,
// bytes, and lists and tuples of plain numbers and texts. Objects of other types are not read, so no code of
// theirs runs. At most COMPARED_MAX elements, evenly spread, are compared; the record holds their number.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "objects/elements.h"
#include "trace/record/ring.h"
#include "trace/values/call_values.h"

#include <math.h>

enum { COMPARED_MAX = 1 << 14 };

typedef struct {
    uint64_t lost, first;
    element before, after;
    float error; // of numbers that were rounded: the largest, relative to the number
    int fills;   // one number became every element
} loss;

enum { SOURCE_HAS_NULLS = 1, RESULT_HAS_NULLS = 2 }; // a column keeps its nulls in a bitmap beside the values

// Whether a null became NaN, or None or NaN stayed a null, under which the bytes are zero.
static int is_null(int nulls, const element *before, const element *after) {
    int is_nan = before->kind == 'f' && isnan(before->real) && after->kind != 'f' && !after->integer;
    return (nulls & SOURCE_HAS_NULLS && after->kind == 'f' && isnan(after->real) && before->kind != 'f') ||
           (nulls & RESULT_HAS_NULLS && (before->kind == 'n' || is_nan));
}

static void note(loss *found, uint64_t at, const element *before, const element *after) {
    if (!found->lost++) {
        found->first = at;
        found->before = *before;
        found->after = *after;
    }
    float error = (float)(fabs(after->real - before->real) / fabs(before->real));
    found->error = error > found->error && isfinite(error) ? error : found->error;
}

// Compares the source with the result's elements from number `from` on. Returns how many, or 0 where they are
// no conversion of the source.
static uint64_t compare(const samples_block *source, int nulls, const samples_block *made, uint64_t from,
                        loss found[RULE_COUNT]) {
    uint64_t count = source->count, compared = count < COMPARED_MAX ? count : COMPARED_MAX;
    for (uint64_t i = 0; i < compared; i++) {
        uint64_t at = compared == count ? i : i * (count - 1) / (compared - 1);
        const char *place = samples_element(source, at);
        if (!place) {
            return 0;
        }
        element before = samples_read(place, source, made);
        element after = samples_read(samples_element(made, from + at), made, source);
        int rule =
            is_null(nulls, &before, &after) ? RULE_kept : elements_judge(&before, &after, made->item_bytes);
        if (rule == NOT_CONVERTED) {
            return 0;
        }
        note(&found[rule], at, &before, &after);
    }
    // Booleans alone may mean anything ("not null", say): they count only where some element was kept.
    int means = made->kind != 'b' || (found[RULE_kept].lost && found[RULE_kept].after.kind);
    return means ? compared : 0;
}

// Whether the C API has lost a number: a call that reads a number twice, as double and as int, may still keep
// it, and from then on reports that as well.
static int scalars_lost;

static int32_t kind_and_length(const element *of) {
    Py_ssize_t length = of->unit ? of->unit : of->length < 1 << 20 ? of->length : 1 << 20;
    return (int32_t)(of->kind | length << 8);
}

static uint32_t bits_of(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static void write_one(int rule, const loss *found, uint64_t compared, uint64_t count,
                      const call_value *source, uint16_t depth) {
    ring_record(
        &(event){.kind = EVENT_LOSS,
                 .flags = EVENT_FLAG_CONTINUATION | EVENT_FLAG_LOSSY | (found->fills ? EVENT_FLAG_FILL : 0),
                 .depth = (uint8_t)depth,
                 .func = (uint16_t)rule,
                 .slot = source->number,
                 .obj = found->before.bits,
                 .val = found->after.bits,
                 .lasti = kind_and_length(&found->before),
                 .refs = kind_and_length(&found->after),
                 .start = found->first,
                 .aux = found->lost,
                 .duration = (uint32_t)compared,
                 .code = rule == RULE_precision ? bits_of(found->error) : 0,
                 .type = (uint32_t)(count < UINT32_MAX ? count : UINT32_MAX)});
}

static const char readable[] = "biufSUmM";

// Whether every source element fits the result's type: known without reading elements.
static int keeps_all(const call_value *made, const call_value *argument) {
    return argument->has_span && argument->span.kind == made->span.kind &&
           argument->span.unit == made->span.unit && argument->span.item_bytes <= made->span.item_bytes;
}

// Whether the result shows the argument's own bytes, as `x.view("i4")` does: nothing was converted.
static int shows(const call_value *made, const call_value *argument) {
    return argument->has_span && made->has_span &&
           argument->span.start < made->span.start + made->span.span_bytes &&
           made->span.start < argument->span.start + argument->span.span_bytes;
}

static int may_lose(const call_value *made, const call_value *argument) {
    return !shows(made, argument) && argument->object != made->object && !argument->is_shape &&
           (argument->has_span || argument->letter == 'L') && !keeps_all(made, argument);
}

static int may_lose_any(const call_value *made, const call_values *seen) {
    for (int i = 0; i < seen->count; i++) {
        if (may_lose(made, &seen->arguments[i])) {
            return 1;
        }
    }
    return 0;
}

static int elements_of(const call_value *argument, samples_block *ret) {
    return samples_items_of(argument, ret) || samples_block_of(argument, "biufcSUOmM", ret);
}

// Number of elements of all arrays in a list: a result with as many may be their concatenation.
static uint64_t listed(const call_values *seen) {
    samples_block one;
    uint64_t count = 0;
    for (int i = 0; i < seen->count && !seen->left_out; i++) {
        count += seen->arguments[i].inside && elements_of(&seen->arguments[i], &one) ? one.count : 0;
    }
    return count;
}

static void judge(const samples_block *source, const call_value *argument, const samples_block *result,
                  uint64_t from, int nulls, uint16_t depth) {
    if (source->kind == result->kind && source->unit == result->unit &&
        source->item_bytes <= result->item_bytes) {
        return;
    }
    loss found[RULE_COUNT] = {0};
    uint64_t compared = compare(source, nulls, result, from, found);
    if (compared && found[RULE_kept].lost == compared && scalars_lost) {
        write_one(RULE_kept, &found[RULE_kept], compared, source->count, argument, depth);
    }
    for (int rule = RULE_kept + 1; compared && rule < RULE_COUNT; rule++) {
        if (found[rule].lost) {
            write_one(rule, &found[rule], compared, source->count, argument, depth);
        }
    }
}

void losses_write(const call_value *made, const call_values *seen, uint16_t depth) {
    samples_block result, source;
    if (!may_lose_any(made, seen) || !samples_block_of(made, readable, &result) || !result.count) {
        return;
    }
    uint64_t joined =
        listed(seen) == result.count ? 0 : UINT64_MAX; // elements of the list's arrays before this one
    for (int i = 0; i < seen->count; i++) {
        const call_value *argument = &seen->arguments[i];
        int nulls =
            (argument->is_reported ? SOURCE_HAS_NULLS : 0) | (made->is_reported ? RESULT_HAS_NULLS : 0);
        int is_read = elements_of(argument, &source), is_part = argument->inside && joined != UINT64_MAX;
        if (is_read && may_lose(made, argument) && (is_part || source.count == result.count)) {
            judge(&source, argument, &result, is_part ? joined : 0, nulls, depth);
        }
        joined += is_read && is_part ? source.count : 0;
    }
}

// The rule by which every element is what C makes of one number; RULE_kept where one is not.
static int filled_by(const element *before, const samples_block *made, loss *found) {
    uint64_t compared = made->count < COMPARED_MAX ? made->count : COMPARED_MAX;
    int rule = RULE_kept;
    for (uint64_t i = 0; i < compared; i++) {
        uint64_t at = compared == made->count ? i : i * (made->count - 1) / (compared - 1);
        element after = elements_read(samples_element(made, at), made->kind, made->item_bytes);
        int judged = elements_judge(before, &after, made->item_bytes);
        if (judged == RULE_kept || judged == NOT_CONVERTED) {
            return RULE_kept;
        }
        rule = judged;
        note(found, at, before, &after);
    }
    return rule;
}

// np.copyto(destination, 1.5): the number that became every element.
void losses_filled(const call_value *made, const plain_values *plain, uint16_t depth) {
    samples_block result;
    if (!samples_block_of(made, "biuf", &result)) {
        return;
    }
    for (uint32_t i = 0; i < plain->count; i++) {
        char letter = (char)(plain->letters >> 8 * i);
        element before = elements_read((const char *)&plain->words[i], letter, sizeof *plain->words);
        loss found = {.fills = 1};
        int rule = letter == 'f' || letter == 'i' ? filled_by(&before, &result, &found) : RULE_kept;
        if (rule != RULE_kept) {
            call_value source = {.number = (uint8_t)(plain->numbers >> 8 * i)};
            write_one(rule, &found, found.lost, result.count, &source, depth);
        }
    }
}

// An int of any size: up to 64 bits it is exact, of a longer one only the number of bits is kept.
static element of_int(PyObject *number) {
    size_t bits = _PyLong_NumBits(number);
    int negative = compat_is_negative(number);
    if (bits > 64 || (bits == 64 && negative)) {
        return (element){.kind = 'I', .bits = bits};
    }
    uint64_t low = PyLong_AsUnsignedLongLongMask(number);
    __int128 whole = negative ? (__int128)(int64_t)low : (__int128)low;
    return (element){.kind = bits == 64 ? 'u' : 'i', .bits = low, .integer = whole, .real = (double)whole};
}

// Whether an int of more than 64 bits certainly differs from the double, by its lowest 64 bits.
static int differs(PyObject *number, double real) {
    uint64_t low = PyLong_AsUnsignedLongLongMask(number);
    uint64_t kept = isfinite(real) ? (uint64_t)fmod(fabs(real), 0x1p64) : low;
    return low != (real < 0 ? -kept : kept);
}

static int scalar_rule(PyObject *object, const element *before, const element *after, uint32_t bytes) {
    if (before->kind != 'I') {
        int rule = elements_judge(before, after, bytes);
        return rule == NOT_CONVERTED ? RULE_kept : rule;
    }
    return after->kind == 'u' ? RULE_overflow : differs(object, after->real) ? RULE_precision : RULE_kept;
}

void losses_scalar(PyObject *object, const void *value, uint32_t bytes, char kind, uint32_t argument,
                   uint16_t depth) {
    element before, after;
    if (kind == 't' && PyUnicode_CheckExact(object)) {
        before = elements_read((const char *)&object, 'O', sizeof object);
        after = elements_read(value, 'S', (uint32_t)strnlen(value, bytes));
    } else if (kind != 't' && PyLong_CheckExact(object)) {
        before = of_int(object);
        after = elements_read(value, kind, bytes);
    } else if (kind == 'f' && PyFloat_CheckExact(object)) {
        before = elements_read((const char *)&object, 'O', sizeof object);
        after = elements_read(value, kind, bytes);
    } else {
        return;
    }
    int rule = kind == 't' ? RULE_embedded_nul : scalar_rule(object, &before, &after, bytes);
    if (rule != RULE_kept) {
        scalars_lost = 1;
        loss found = {.lost = 1, .before = before, .after = after};
        call_value source = {.number = (uint8_t)argument};
        write_one(rule, &found, 1, 1, &source, depth);
    }
}

#define RULE_NAME(name) #name,
static const char *const rule_names[] = {LOSSES_RULES(RULE_NAME)};

#define UNIT_NAME(name) #name,
static const char *const unit_names[] = {SPAN_UNITS(UNIT_NAME)};

int losses_exec(PyObject *module) {
    int failed = names_add(module, "SPAN_UNITS", unit_names, sizeof unit_names / sizeof *unit_names);
    return failed ? failed : names_add(module, "LOSS_RULES", rule_names, RULE_COUNT);
}
