// Numbers, booleans and None among a call's arguments and results: four of them fit into one record, and they
// have no bytes to compare.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_PLAIN_H
#define INSPECTOR_PLAIN_H

#include "module/native.h"

enum { PLAIN_MAX = 8, PLAIN_PER_RECORD = 4, PLAIN_RESULT = 0x80 };

typedef struct {
    uint64_t words[PLAIN_MAX]; // by letter, as CALL_VALUES_LETTERS describes
    uint64_t letters;          // a byte each, lowest first: 'i' of at most 60 bits, 'f', 'b', 'n'
    uint64_t numbers;          // likewise, of the argument; PLAIN_RESULT for the result
    uint32_t count;
} plain_values;

// The letter of a plain object, and its word; 0 for an object of any other type.
static inline uint8_t plain_read(PyObject *object /* borrowed */, uint64_t *ret) {
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyLong_Type) {
        return compat_int_short(object, (int64_t *)ret) ? 'i' : 0;
    }
    if (type == &PyFloat_Type) {
        memcpy(ret, &((PyFloatObject *)object)->ob_fval, sizeof *ret);
        return 'f';
    }
    *ret = object == Py_True;
    return object == Py_None ? 'n' : type == &PyBool_Type ? 'b' : 0;
}

// Adds a plain object. Returns its letter, or 0 for any other object or where there is no room.
static inline int plain_note(plain_values *values, PyObject *object /* borrowed */, uint8_t number) {
    uint32_t at = values->count;
    uint64_t letter = at < PLAIN_MAX ? plain_read(object, &values->words[at]) : 0;
    if (letter) {
        values->letters |= letter << 8 * at;
        values->numbers |= (uint64_t)number << 8 * at;
        values->count = at + 1;
    }
    return (int)letter;
}

static inline void plain_init(plain_values *values) { memset(values, 0, sizeof *values); }

// Writes them as continuations of the record before.
void plain_write(const plain_values *values, uint8_t depth);

#endif
