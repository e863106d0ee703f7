// The bytes of tensors, tables and columns, reported by the adapters, which read their libraries' structs.
//
// A type is queried once: None means that no adapter knows it, and from then on its objects cost one load.
// The query runs Python code of ours, so nothing is recorded meanwhile, and a pending exception is saved and
// restored. A failed query reports nothing: the verdict then rests on the other arguments.
// SPDX-License-Identifier: MIT
#include "memory/memory.h"
#include "trace/record/interned.h"
#include "trace/record/record.h"
#include "trace/record/ring.h"

#include <sys/uio.h>
#include <unistd.h>

enum { TYPES_MAX = 1 << 16, READABLE_MAX = 256 };

static PyObject *adapter;                // owned, during a trace: callable(object) -> list of rows, or None
static uint8_t is_unknown[TYPES_MAX];    // by type id: no adapter knows it
static uint8_t is_steady[TYPES_MAX];     // by type id: its rows come in a tuple
static data_span readable[READABLE_MAX]; // a cache of spans that could be read, by hash

static int read_row(PyObject *row, data_span *ret) {
    unsigned long long start, span, logical, origin;
    int item, flags;
    const char *kind;
    PyObject *shape, *strides; // borrowed
    if (!PyArg_ParseTuple(row, "KKKisiKO!O!", &start, &span, &logical, &item, &kind, &flags, &origin,
                          &PyTuple_Type, &shape, &PyTuple_Type, &strides)) {
        return 0;
    }
    *ret = (data_span){.start = (uintptr_t)start,
                       .span_bytes = span,
                       .logical_bytes = logical,
                       .item_bytes = (uint32_t)item,
                       .kind = *kind,
                       .unit = *kind && kind[1] ? spans_unit(kind[1], kind + 2) : 0,
                       .flags = (uint8_t)flags,
                       .origin = (uintptr_t)origin};
    Py_ssize_t axes = PyTuple_GET_SIZE(shape);
    for (Py_ssize_t i = 0; axes <= SPAN_AXES_MAX && i < axes; i++) {
        ret->shape[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i));
        ret->strides[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(strides, i));
    }
    ret->axes = (uint8_t)(axes <= SPAN_AXES_MAX ? axes : 0);
    return !PyErr_Occurred();
}

// Reads both ends in one system call. A span that was readable is not checked again in this trace.
int reported_is_there(const data_span *span) {
    data_span *known = &readable[(span->start >> 4 ^ span->span_bytes) % READABLE_MAX];
    if (!span->span_bytes || (known->start == span->start && known->span_bytes == span->span_bytes)) {
        return 1;
    }
    char bytes[2];
    struct iovec ours = {.iov_base = bytes, .iov_len = 2};
    struct iovec ends[2] = {{.iov_base = (void *)span->start, .iov_len = 1},
                            {.iov_base = (void *)(span->start + span->span_bytes - 1), .iov_len = 1}};
    int before = errno; // the program's errno: a hook runs inside its call
    int is_there = process_vm_readv(getpid(), &ours, 1, ends, 2, 0) == 2;
    if (!is_there && (errno == ENOSYS || errno == EPERM)) {
        is_there =
            memory_read(span->start, bytes, 1) && memory_read(span->start + span->span_bytes - 1, bytes, 1);
    }
    errno = before;
    if (is_there) {
        *known = *span;
    }
    return is_there;
}

static int read_rows(PyObject *rows, data_span *ret) {
    int count = 0;
    for (Py_ssize_t i = 0; i < spans_items(rows) && count < REPORTED_SPANS_MAX; i++) {
        count += read_row(PySequence_Fast_ITEMS(rows)[i], &ret[count]) && reported_is_there(&ret[count]);
    }
    return count;
}

// Calls the callable without recording anything meanwhile. New, or NULL with an exception set.
static PyObject *call_unrecorded(PyObject *callable, PyObject *argument, PyObject *number) {
    uint16_t left = ring_quiet();
    PyObject *result = PyObject_CallFunctionObjArgs(callable, argument, number, NULL);
    ring_loud(left);
    return result;
}

int reported_spans(PyObject *object, uint32_t type, data_span *ret) {
    if (!adapter || !type || type >= TYPES_MAX || is_unknown[type]) {
        return 0;
    }
    PyObject *kind, *value, *trace; // owned; saved and restored
    PyErr_Fetch(&kind, &value, &trace);
    PyObject *rows = call_unrecorded(adapter, object, NULL);
    is_unknown[type] = rows == Py_None;
    is_steady[type] = rows && PyTuple_CheckExact(rows);
    int count = rows ? read_rows(rows, ret) : 0;
    Py_XDECREF(rows);
    PyErr_Clear();
    PyErr_Restore(kind, value, trace);
    return count;
}

PyObject *reported_further(PyObject *object, int after) {
    _owned_ PyObject *number = adapter ? PyLong_FromLong(after) : NULL; // owned
    PyObject *rows = number ? call_unrecorded(adapter, object, number) : NULL;
    if (rows && !PyList_CheckExact(rows)) {
        Py_CLEAR(rows);
    }
    PyErr_Clear();
    return rows;
}

int reported_further_span(PyObject *rows, int at, data_span *ret) {
    int has_row = rows && at < PyList_GET_SIZE(rows) && read_row(PyList_GET_ITEM(rows, at), ret);
    PyErr_Clear();
    return has_row && reported_is_there(ret);
}

static PyObject *reported_unrecorded(PyObject *module, PyObject *callable) {
    return call_unrecorded(callable, NULL, NULL);
}

int reported_is_steady(uint32_t type) { return type < TYPES_MAX && is_steady[type]; }

static PyObject *reported_begin(PyObject *module, PyObject *callable) {
    memset(is_unknown, 0, sizeof is_unknown);
    memset(is_steady, 0, sizeof is_steady);
    memset(readable, 0, sizeof readable);
    Py_XSETREF(adapter, callable == Py_None ? NULL : Py_NewRef(callable));
    Py_RETURN_NONE;
}

// A row, in the form of an adapter's, for an object whose struct is known here.
static PyObject *reported_own_span(PyObject *module, PyObject *object /* borrowed */) {
    data_span span = {0};
    if (!spans_read_any(object, &span)) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("KKKiCiK()()", (unsigned long long)span.start, (unsigned long long)span.span_bytes,
                         (unsigned long long)span.logical_bytes, (int)span.item_bytes,
                         span.kind ? span.kind : 'V', span.flags, (unsigned long long)span.start);
}

PART_FUNCTIONS(reported_spans, {"own_span", reported_own_span, METH_O, NULL},
               {"ask_spans", reported_begin, METH_O, NULL}, {"unrecorded", reported_unrecorded, METH_O, NULL})
