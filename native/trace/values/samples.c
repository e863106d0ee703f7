// Compares a few elements of a result with those of an argument, both alive at the end of the call.
//
// Elements pair by their index in C order: the argument has as many as the result, or is its first part (a
// concatenation). Values match as C conversions make them (objects/elements.c), so a cast to a smaller type
// is still a copy. Bytes without a type of their own (bytes, memory of ctypes) are read as the other side's
// type. A list of plain numbers or texts, nested or not, is read like an array. Where no pairing by index
// matches, but all sampled elements occur in the argument, it is a selection: sorted, taken, filtered,
// repeated.
//
// SAMPLES elements can be equal by chance, so the verdict says "by sample". Their positions are irregular:
// even steps through a square matrix hit only its diagonal, and a transposed one would look the same.
// SPDX-License-Identifier: MIT
#include "objects/elements.h"
#include "trace/values/call_values.h"

enum { SAMPLES = 8 };
enum { SELECTION_LEAST = 16, SELECTION_DISTINCT = 4, SELECTION_BYTES_LEAST = 4, SEARCHED_MAX = 1 << 14 };
enum { EQUAL = 1, DIFFERENT = 0, NOT_COMPARABLE = -1 };

typedef samples_block block;

static int is_alike(const block *a, const block *b) {
    return a->kind == b->kind && a->item_bytes == b->item_bytes && a->unit == b->unit && !a->items &&
           !b->items;
}

static int same(const char *made, const block *result, const char *source, const block *argument) {
    if (!source) {
        return NOT_COMPARABLE;
    }
    if (is_alike(result, argument)) {
        return memcmp(made, source, result->item_bytes) == 0;
    }
    element before = samples_read(source, argument, result);
    element after = samples_read(made, result, argument);
    return !before.kind || !after.kind ? NOT_COMPARABLE
                                       : elements_judge(&before, &after, result->item_bytes) != NOT_CONVERTED;
}

static uint64_t position(uint64_t sample, uint64_t count) {
    return sample == 0             ? 0
           : sample == SAMPLES - 1 ? count - 1
                                   : (uint64_t)((__uint128_t)(sample * 0x9E3779B97F4A7C15ULL) * count >> 64);
}

static int pairs(const block *result, const block *argument) {
    int truths = 0; // a boolean matches many numbers: only both True and False are evidence
    int fills = argument->count == 1 && result->count > 1; // a fill value: not the argument's bytes
    if (!argument->count || result->count < argument->count || fills) {
        return NOT_COMPARABLE;
    }
    for (uint64_t i = 0; i < SAMPLES; i++) {
        uint64_t at = position(i, argument->count);
        const char *made = samples_element(result, at);
        int found = same(made, result, samples_element(argument, at), argument);
        if (found != EQUAL) {
            return found;
        }
        truths |= *made ? 2 : 1;
    }
    return result->kind == 'b' && argument->kind != 'b' && truths != 3 ? NOT_COMPARABLE : EQUAL;
}

static int is_found(const char *value, const block *in) {
    for (uint64_t i = 0; i < in->count; i++) {
        if (memcmp(samples_element(in, i), value, in->item_bytes) == 0) {
            return 1;
        }
    }
    return 0;
}

// Whether all sampled elements occur in the argument, and enough of them are distinct.
static int is_selection(const block *result, const block *argument) {
    if (!is_alike(result, argument) || result->item_bytes < SELECTION_BYTES_LEAST ||
        result->count < SELECTION_LEAST || argument->count > SEARCHED_MAX ||
        argument->count / 4 > result->count) {
        return 0;
    }
    const char *values[SAMPLES];
    int distinct = 0;
    for (int i = 0; i < SAMPLES; i++) {
        values[i] = samples_element(result, position((uint64_t)i, result->count));
        if (!is_found(values[i], argument)) {
            return 0;
        }
        int earlier = 0;
        while (earlier < i && memcmp(values[earlier], values[i], result->item_bytes) != 0) {
            earlier++;
        }
        distinct += earlier == i;
    }
    return distinct >= SELECTION_DISTINCT;
}

static int is_raw(const block *of) { return !of->items && of->item_bytes == 1 && strchr("SV", of->kind); }

// Untyped bytes, read as elements of the other side's type.
static block read_like(const block *raw, char kind, uint32_t bytes) {
    Py_ssize_t count = (Py_ssize_t)(raw->count / bytes);
    block made = {.memory = raw->memory, .axes = 1, .shape = {count}, .item_bytes = bytes, .kind = kind};
    made.strides[0] = (Py_ssize_t)bytes;
    made.count = raw->count % bytes ? 0 : raw->count / bytes;
    return made;
}

static int compare(const block *result, const block *argument) {
    if (is_raw(result) == is_raw(argument)) {
        int found = pairs(result, argument);
        return found != EQUAL && is_selection(result, argument) ? EQUAL : found;
    }
    const block *typed = is_raw(result) ? argument : result;
    const block *raw = is_raw(result) ? result : argument;
    block numbers = read_like(raw, 'u', 1), like = numbers;
    if (!typed->items) {
        like = read_like(raw, typed->kind, typed->item_bytes);
    }
    int found = is_raw(result) ? pairs(&like, argument) : pairs(result, &like);
    return found == EQUAL ? found : is_raw(result) ? pairs(&numbers, argument) : pairs(result, &numbers);
}

static int meet(const data_span *a, const data_span *b) {
    return a->start < b->start + b->span_bytes && b->start < a->start + a->span_bytes;
}

static const char comparable[] = "biufcSUVOmM";

static int argument_block(const call_values *seen, int number, block *ret) {
    const call_value *source = &seen->arguments[number];
    if (source->letter == 'L') { // a list of arrays: each array follows with a block of its own
        int has_arrays = number + 1 < seen->count && seen->arguments[number + 1].inside;
        return !source->is_shape && !has_arrays && samples_items_of(source, ret);
    }
    return samples_block_of(source, comparable, ret);
}

uint32_t samples_compare(const call_value *result, const call_values *seen) {
    block made, source;
    uint32_t mask = 0;
    if (result->letter == 's' || !samples_block_of(result, comparable, &made)) {
        return 0;
    }
    for (int i = 0; i < seen->count; i++) {
        const call_value *argument = &seen->arguments[i];
        if (argument->object == result->object || argument->letter == 's' ||
            (argument->has_span && meet(&argument->span, &result->span)) ||
            !argument_block(seen, i, &source)) {
            continue;
        }
        int equal = compare(&made, &source);
        mask |= equal != NOT_COMPARABLE ? SAMPLES_COMPARED : 0;
        mask |= equal == EQUAL ? 1u << i : equal == DIFFERENT ? SAMPLES_UNEQUAL : 0;
    }
    return mask;
}

// Number of the result's elements that the argument can supply.
static uint64_t reach(const block *result, const block *argument) {
    int as_bytes = is_raw(result) != is_raw(argument) && !argument->items;
    return as_bytes ? argument->count * argument->item_bytes / result->item_bytes : argument->count;
}

// Whether the result repeats the argument, like one row in each row.
static int is_repeated(const block *result, const block *argument) {
    int found = argument->count && result->count % argument->count == 0 ? EQUAL : DIFFERENT;
    for (uint64_t i = 0; i < SAMPLES && found == EQUAL; i++) {
        uint64_t at = position(i, result->count);
        const char *source = samples_element(argument, at % argument->count);
        found = same(samples_element(result, at), result, source, argument);
    }
    return found == EQUAL;
}

int samples_fill(const call_value *result, const call_values *seen, uint32_t equal) {
    block made, source;
    uint64_t reached = 0;
    if (!samples_block_of(result, comparable, &made)) {
        return 0;
    }
    for (int i = 0; i < seen->count; i++) {
        if (seen->arguments[i].object != result->object && argument_block(seen, i, &source)) {
            reached += reach(&made, &source);
            reached = equal & 1u << i && is_repeated(&made, &source) ? made.count : reached;
        }
    }
    return reached >= made.count;
}

static int words_of(const call_value *seen, uint64_t ret[CALL_VALUES_WORDS]) {
    block memory;
    if (seen->letter == 's' || seen->span.flags & SPAN_READONLY ||
        !samples_block_of(seen, "biufcSUVmM", &memory) || memory.count < 2) {
        return 0;
    }
    memset(ret, 0, CALL_VALUES_WORDS * sizeof *ret);
    for (uint64_t i = 0; i < CALL_VALUES_WORDS; i++) {
        uint64_t at = i * (memory.count - 1) / (CALL_VALUES_WORDS - 1);
        memcpy(&ret[i], samples_element(&memory, at), memory.item_bytes < 8 ? memory.item_bytes : 8);
    }
    return 1;
}

void samples_remember(call_value *seen) { seen->remembered = (uint8_t)words_of(seen, seen->words); }

uint32_t samples_written(const call_value *before, const call_value *now) {
    uint64_t words[CALL_VALUES_WORDS];
    int is_there = before->remembered && now->has_span && now->span.start == before->span.start &&
                   now->span.logical_bytes == before->span.logical_bytes && words_of(now, words);
    return is_there && memcmp(words, before->words, sizeof words) != 0 ? SAMPLES_WRITTEN : 0;
}

static Py_ssize_t extent(PyObject *const *item) { // -1: not an int, or not a valid axis length
    element found = elements_read((const char *)item, 'O', sizeof *item);
    return found.kind == 'i' && found.integer >= 0 ? (Py_ssize_t)found.integer : -1;
}

// Whether the items are the lengths of the axes of `made` from number `from` on.
static int are_axes(PyObject **items, Py_ssize_t count, const block *made, Py_ssize_t from) {
    for (Py_ssize_t i = 0; i < count; i++) {
        if (extent(&items[i]) != made->shape[from + i]) {
            return 0;
        }
    }
    return 1;
}

static int is_product(PyObject **items, Py_ssize_t count, uint64_t elements) {
    uint64_t product = 1;
    for (Py_ssize_t i = 0; i < count && product <= elements; i++) {
        Py_ssize_t one = extent(&items[i]);
        product = one < 0 ? UINT64_MAX : product * (uint64_t)one;
    }
    return product == elements;
}

static int is_shape(const call_value *source, const block *made) {
    Py_ssize_t count = spans_items(source->object);
    if (count < 1 || count > SAMPLES_AXES_MAX) {
        return 0;
    }
    PyObject **items = PySequence_Fast_ITEMS(source->object);
    if (made->axes >= count &&
        (are_axes(items, count, made, 0) || are_axes(items, count, made, made->axes - count))) {
        block numbers; // [1] is the shape of an array of one element, and may be its content
        return !(made->count == (uint64_t)count && samples_items_of(source, &numbers) &&
                 pairs(made, &numbers) == EQUAL);
    }
    return made->count != (uint64_t)count && is_product(items, count, made->count);
}

static int has_list(const call_values *seen) {
    for (int i = 0; i < seen->count; i++) {
        if (seen->arguments[i].letter == 'L') {
            return 1;
        }
    }
    return 0;
}

void samples_mark_shapes(const call_value *result, call_values *seen) {
    block made;
    if (!has_list(seen) || !samples_block_of(result, comparable, &made)) {
        return;
    }
    for (int i = 0; i < seen->count; i++) {
        call_value *source = &seen->arguments[i];
        source->is_shape = source->letter == 'L' && !source->inside && is_shape(source, &made);
    }
}
