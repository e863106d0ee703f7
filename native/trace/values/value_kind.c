// The kind of an argument or a result: a letter and a word or two, its type, its bytes by its struct.
// SPDX-License-Identifier: MIT
#include "trace/record/interned.h"
#include "trace/record/record.h"
#include "trace/values/call_values.h"

static void first_characters(const void *from, Py_ssize_t count, call_value *ret) {
    char text[16] = {0};
    memcpy(text, from, (size_t)(count < 16 ? count : 16));
    memcpy(&ret->val, text, 8);
    memcpy(&ret->more, text + 8, 8);
    ret->aux = (uint64_t)count;
}

static void read_letter(PyObject *object, call_value *ret) {
    PyTypeObject *type = Py_TYPE(object);
    uint64_t word;
    uint8_t plain = plain_read(object, &word);
    ret->letter = plain ? plain : 'o';
    if (plain) {
        ret->val = word;
    } else if (type == &PyLong_Type) {
        ret->letter = 'i';
        ret->aux = compat_int_digits(object);
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

// Reads what the object's own struct says. Only the fields before `span` are zeroed, and records are written
// in place: three values and four records per call were most of the cost of recording.
void value_kind_read(PyObject *object, uint8_t number, uint8_t inside, call_value *ret) {
    memset(ret, 0, offsetof(call_value, span));
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
    ret->is_pending = !ret->has_span && ret->letter == 'o';
}

int value_kind_report(call_value *ret, int room) {
    data_span reported[REPORTED_SPANS_MAX];
    int count = ret->is_pending ? reported_spans(ret->object, ret->type, reported) : 0;
    ret->is_pending = 0;
    for (int i = 0; i < count && i < room; i++) {
        ret[i] = ret[0];
        ret[i].span = reported[i];
        ret[i].has_span = ret[i].is_reported = 1;
        ret[i].further = i > 0;
        ret[i].span.flags |= count > room ? SPAN_MORE : 0;
    }
    return count > 1 ? (count < room ? count : room) : 1;
}

int value_kind_at(PyObject *object, call_value *ret) {
    value_kind_read(object, 0, 0, ret);
    return value_kind_report(ret, REPORTED_SPANS_MAX);
}
