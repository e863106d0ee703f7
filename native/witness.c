// The arguments and the result of a call as continuations: kind, size, bytes, and where in Python it was.
//
// Before the call each argument's struct is read (spans.c) and kept on the C stack, since the call may change
// or free it; after the call the records are written, the call's own first. One level of a short list or
// tuple is looked into, for np.concatenate([a, b]). Nothing of the objects' own code runs, no reference is
// taken but those of interned types and code objects.
//
// A fresh result tells that bytes were made, not whether they are the argument's values. So up to SAMPLES
// elements of an array that has as many elements as an argument are compared while both are alive: equal ones
// make a copy of it, others a computation.
#define INSPECTOR_INTERNALS
#include "native.h"

#include "witness.h"

#include <string.h>

#include "asked.h"
#include "interned.h"
#include "losses.h"
#include "ring.h"
#include "samples.h"
#include "sites.h"

enum { ITEMS_LOOKED_AT = 8 };

int witness_open, witness_of_stdlib;

// ----- what an object is --------------------------------------------------------------------------

static void first_characters(const void *from, Py_ssize_t count, witnessed *ret) {
    char text[16] = {0};
    memcpy(text, from, (size_t)(count < 16 ? count : 16));
    memcpy(&ret->val, text, 8);
    memcpy(&ret->more, text + 8, 8);
    ret->aux = (uint64_t)count;
}

static void read_int(PyObject *object, witnessed *ret) {
    size_t digits = compat_int_digits(object);
    if (digits > 2) {
        ret->aux = digits;
        return;
    }
    ret->val = (uint64_t)PyLong_AsLongLong(object); // at most 60 bits: it cannot fail
}

static void read_letter(PyObject *object, witnessed *ret) {
    PyTypeObject *type = Py_TYPE(object);
    ret->letter = 'o';
    if (object == Py_None) {
        ret->letter = 'n';
    } else if (type == &PyBool_Type) {
        ret->letter = 'b';
        ret->val = object == Py_True;
    } else if (type == &PyLong_Type) {
        ret->letter = 'i';
        read_int(object, ret);
    } else if (type == &PyFloat_Type) {
        ret->letter = 'f';
        memcpy(&ret->val, &((PyFloatObject *)object)->ob_fval, 8);
    } else if (type == &PyUnicode_Type) {
        int ascii = PyUnicode_IS_COMPACT_ASCII(object);
        ret->letter = 's';
        first_characters(PyUnicode_DATA(object), ascii ? PyUnicode_GET_LENGTH(object) : 0, ret);
        ret->aux = (uint64_t)PyUnicode_GET_LENGTH(object);
    } else if (type == &PyBytes_Type) {
        ret->letter = 'y';
        first_characters(PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object), ret);
    } else if (type == &PyDict_Type) {
        ret->letter = 'D';
        ret->aux = (uint64_t)((PyDictObject *)object)->ma_used;
    } else if (spans_items(object) >= 0) {
        ret->letter = 'L';
        ret->aux = (uint64_t)spans_items(object);
        PyObject *first = ret->aux ? PySequence_Fast_ITEMS(object)[0] : NULL; // borrowed
        ret->val = first ? interned_id((PyObject *)Py_TYPE(first)) : 0;
    }
}

// What the object's own struct tells. Of `ret` only what stands before its span is zeroed, and records are
// written where they stay: three of these and four records a call were most of what recording a call cost.
static void look(PyObject *object, uint8_t number, uint8_t inside, witnessed *ret) {
    memset(ret, 0, offsetof(witnessed, span));
    ret->object = object;
    ret->number = number;
    ret->inside = inside;
    ret->type = interned_id((PyObject *)Py_TYPE(object));
    read_letter(object, ret);
    if (ret->letter == 'o' || ret->letter == 's' || ret->letter == 'y') {
        ret->span.axes = 0;
        ret->span.origin = 0;
        ret->has_span = (uint8_t)spans_read(object, &ret->span);
    }
    ret->unasked = !ret->has_span && ret->letter == 'o';
}

// Its blocks as an adapter tells them: the first in entry 0, further ones in the entries behind. How many.
static int ask(witnessed *ret, int room) {
    data_span told[ASKED_SPANS_MAX];
    int count = ret->unasked ? asked_spans(ret->object, ret->type, told) : 0;
    ret->unasked = 0;
    for (int i = 0; i < count && i < room; i++) {
        ret[i] = ret[0];
        ret[i].span = told[i];
        ret[i].has_span = ret[i].told = 1;
        ret[i].further = i > 0;
    }
    return count > 1 ? (count < room ? count : room) : 1;
}

static int look_at(PyObject *object, witnessed *ret) {
    look(object, 0, 0, ret);
    return ask(ret, ASKED_SPANS_MAX);
}

// ----- arguments ----------------------------------------------------------------------------------

static void note(PyObject *object, uint8_t number, uint8_t inside, witness *ret) {
    if (!object) {
        return;
    }
    if (ret->count == WITNESS_MAX) {
        ret->left_out++;
        return;
    }
    witnessed *here = &ret->arguments[ret->count];
    look(object, number, inside, here);
    // The caller holds an argument until the call is over, but not what is in a list.
    int is_later = here->unasked && !inside && asked_is_steady(here->type);
    ret->count += is_later ? 1 : ask(here, WITNESS_MAX - ret->count);
    if (here->has_span) {
        samples_remember(here);
    }
}

static int has_bytes(PyObject *object) {
    data_span ignored[ASKED_SPANS_MAX];
    return object && !PyUnicode_CheckExact(object) &&
           (spans_read(object, ignored) ||
            asked_spans(object, interned_id((PyObject *)Py_TYPE(object)), ignored) > 0);
}

static void note_values(PyObject *dict, uint8_t number, witness *ret) {
    PyObject *key, *value; // borrowed
    Py_ssize_t at = 0;
    for (int i = 0; i < ITEMS_LOOKED_AT && PyDict_Next(dict, &at, &key, &value); i++) {
        if (has_bytes(value)) {
            note(value, number, 1, ret);
        }
    }
}

// An argument, and the arrays in a short list or dict of arrays.
static void note_argument(PyObject *object, uint8_t number, witness *ret) {
    note(object, number, 0, ret);
    if (object && PyDict_CheckExact(object)) {
        note_values(object, number, ret);
    }
    Py_ssize_t items = object ? spans_items(object) : -1;
    PyObject **first = items > 0 ? PySequence_Fast_ITEMS(object) : NULL;
    if (!first || !has_bytes(*first)) {
        return;
    }
    for (Py_ssize_t i = 0; i < items && i < ITEMS_LOOKED_AT; i++) {
        note(first[i], number, 1, ret);
    }
    ret->left_out += items > ITEMS_LOOKED_AT ? (int)(items - ITEMS_LOOKED_AT) : 0;
}

static void note_vector(PyObject *const *items, Py_ssize_t count, PyObject *names, witness *ret) {
    count += names ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        note_argument(items[i], (uint8_t)(i < 254 ? i + 1 : 255), ret);
    }
}

static void note_tuple(PyObject *tuple, PyObject *keywords, witness *ret) {
    note_vector(PySequence_Fast_ITEMS(tuple), PyTuple_GET_SIZE(tuple), NULL, ret);
    PyObject *key, *value; // borrowed
    Py_ssize_t at = 0, number = PyTuple_GET_SIZE(tuple);
    while (keywords && PyDict_Next(keywords, &at, &key, &value)) {
        number++;
        note_argument(value, (uint8_t)(number < 255 ? number : 255), ret);
    }
}

#define OBJECT(word) ((PyObject *)(word))
#define OBJECTS(word) ((PyObject *const *)(word))

static void note_arguments(call_convention convention, const uintptr_t words[5], witness *ret) {
    if (OBJECT(words[0]) && !PyModule_Check(OBJECT(words[0])) && convention != CALL_VECTOR) {
        note(OBJECT(words[0]), 0, 0, ret);
    }
    switch (convention) {
    case CALL_VARARGS:
        note_tuple(OBJECT(words[1]), NULL, ret);
        break;
    case CALL_KEYWORDS:
        note_tuple(OBJECT(words[1]), OBJECT(words[2]), ret);
        break;
    case CALL_FASTCALL:
        note_vector(OBJECTS(words[1]), (Py_ssize_t)words[2], NULL, ret);
        break;
    case CALL_FAST_NAMES:
        note_vector(OBJECTS(words[1]), (Py_ssize_t)words[2], OBJECT(words[3]), ret);
        break;
    case CALL_VECTOR:
        note_vector(OBJECTS(words[1]), PyVectorcall_NARGS(words[2]), OBJECT(words[3]), ret);
        break;
    case CALL_METHOD:
        note_vector(OBJECTS(words[2]), (Py_ssize_t)words[3], OBJECT(words[4]), ret);
        break;
    case CALL_O:
        note_argument(OBJECT(words[1]), 1, ret);
        break;
    case CALL_NOARGS:
    case CALL_UNARY:
    case CALL_BUFFER:
    case CALL_INDEXED:
    case CALL_DEALLOC:
        break;
    }
}

void witness_before(call_convention convention, const uintptr_t words[5], event *record, witness *ret) {
    ret->count = ret->left_out = 0;
    record->obj = words[0];
    record->type = words[0] ? interned_id((PyObject *)Py_TYPE(OBJECT(words[0]))) : 0;
    sites_locate(record);
    note_arguments(convention, words, ret);
    record->val = (uint64_t)ret->left_out;
}

// ----- after --------------------------------------------------------------------------------------

static void write_value(const witnessed *seen, int flags, uint16_t depth) {
    event *record = ring_open();
    if (record) {
        *record = (event){
            .kind = EVENT_VALUE,
            .flags = (uint16_t)(flags | EVENT_FLAG_CONTINUATION | (seen->inside ? EVENT_FLAG_INSIDE : 0)),
            .depth = (uint8_t)depth,
            .obj = (uint64_t)(uintptr_t)seen->object,
            .val = seen->val,
            .aux = seen->aux,
            .start = seen->is_shape ? 1 : seen->more,
            .type = seen->type,
            .lasti = seen->number,
            .func = seen->letter};
        ring_commit();
    }
}

static void write_span(const witnessed *seen, int flags, uint16_t depth, uint32_t same) {
    event *record = ring_open();
    if (record) {
        *record = (event){
            .kind = EVENT_SPAN,
            .flags = (uint16_t)(flags | EVENT_FLAG_CONTINUATION | (seen->inside ? EVENT_FLAG_INSIDE : 0)),
            .depth = (uint8_t)depth,
            .obj = (uint64_t)(uintptr_t)seen->object,
            .val = seen->span.start,
            .aux = seen->span.span_bytes,
            .start = seen->span.logical_bytes,
            .lasti = (int32_t)seen->span.item_bytes,
            .refs = seen->span.flags,
            .code = same,
            .type = seen->type,
            .slot = seen->number,
            .func = (uint8_t)seen->span.kind};
        ring_commit();
    }
}

static void write_seen(const witnessed *seen, int flags, uint16_t depth, uint32_t same) {
    if (!seen->further) {
        write_value(seen, flags, depth);
    }
    if (seen->has_span) {
        write_span(seen, flags, depth, same);
    }
}

static int has_failed(call_convention convention, uintptr_t result) {
    return convention == CALL_BUFFER ? (int)result < 0 : !result;
}

static void write_buffer(const Py_buffer *view, uint16_t depth) {
    event *record = ring_open();
    if (record) {
        *record = (event){.kind = EVENT_BUFFER,
                          .flags = EVENT_FLAG_CONTINUATION | EVENT_FLAG_OUTPUT,
                          .depth = (uint8_t)depth,
                          .obj = (uint64_t)(uintptr_t)view->obj,
                          .val = (uint64_t)(uintptr_t)view->buf,
                          .aux = (uint64_t)view->len,
                          .lasti = (int32_t)view->itemsize,
                          .refs = view->ndim};
        ring_commit();
    }
}

// A result that is an argument may have been written to meanwhile.
static uint32_t compared(const witnessed *made, const witness *seen) {
    uint32_t written = 0;
    for (int i = 0; i < seen->count && !written; i++) {
        written = seen->arguments[i].object == made->object ? samples_written(&seen->arguments[i], made) : 0;
    }
    return samples_compare(made, seen) | written;
}

// Asks about the arguments that were left for later, each in its place.
static void ask_arguments(witness *seen) {
    for (int i = 0; i < seen->count; i++) {
        if (!seen->arguments[i].unasked) {
            continue;
        }
        witnessed told[ASKED_SPANS_MAX] = {seen->arguments[i]};
        int count = ask(told, ASKED_SPANS_MAX), behind = seen->count - i - 1;
        int fits = count < WITNESS_MAX - i ? count : WITNESS_MAX - i;
        int kept = behind < WITNESS_MAX - i - fits ? behind : WITNESS_MAX - i - fits;
        memmove(&seen->arguments[i + fits], &seen->arguments[i + 1], (size_t)kept * sizeof *told);
        memcpy(&seen->arguments[i], told, (size_t)fits * sizeof *told);
        seen->left_out += behind - kept;
        seen->count = i + fits + kept;
    }
}

// Whether the call can have copied anything: it gave bytes back, or nothing, with an argument to write to.
static int may_have_copied(const witnessed *made /* NULL: none */, const witness *seen) {
    int may = made && made->has_span;
    for (int i = 0; i < seen->count && made && !may; i++) {
        may = made->letter == 'n' && seen->arguments[i].remembered;
    }
    return may;
}

// np.copyto(destination, source): nothing is given back, and an argument holds another one's elements now.
static void write_filled(const witness *seen, uint16_t depth) {
    for (int i = 0; i < seen->count; i++) {
        witnessed now[ASKED_SPANS_MAX];
        if (!seen->arguments[i].remembered) {
            continue;
        }
        look_at(seen->arguments[i].object, now);
        uint32_t written = samples_written(&seen->arguments[i], &now[0]);
        uint32_t mask = written ? samples_compare(&now[0], seen) : 0;
        if (mask & SAMPLES_EQUAL) {
            write_span(&now[0], EVENT_FLAG_OUTPUT, depth, mask | written);
            losses_write(&now[0], seen, depth);
        }
    }
}

void witness_after(call_convention convention, const uintptr_t words[5], uintptr_t result, event *record,
                   witness *seen) {
    int failed = has_failed(convention, result);
    int has_object = !failed && convention != CALL_BUFFER;
    witnessed made[ASKED_SPANS_MAX]; // before the first record: asking for spans may record in between
    int count = has_object ? look_at(OBJECT(result), made) : 0;
    if (may_have_copied(count ? made : NULL, seen)) {
        ask_arguments(seen);
        record->val = (uint64_t)seen->left_out;
    }
    if (count && made[0].has_span) {
        samples_mark_shapes(&made[0], seen);
    }
    event *kept = ring_open();
    if (!kept) {
        return;
    }
    *kept = *record;
    kept->flags |= EVENT_FLAG_DEEP | (failed ? EVENT_FLAG_ERROR : 0);
    kept->aux = (uint64_t)seen->count;
    ring_commit();
    for (int i = 0; i < seen->count; i++) {
        write_seen(&seen->arguments[i], 0, record->depth, 0);
    }
    if (convention == CALL_BUFFER && !failed) {
        write_buffer((const Py_buffer *)words[1], record->depth);
    }
    for (int i = 0; i < count; i++) {
        int has_span = made[i].has_span; // numbers are compared with nothing
        write_seen(&made[i], EVENT_FLAG_OUTPUT, record->depth, has_span ? compared(&made[i], seen) : 0);
        if (has_span) {
            losses_write(&made[i], seen, record->depth);
        }
    }
    if (count && made[0].letter == 'n' && seen->count > 1) {
        write_filled(seen, record->depth);
    }
}
