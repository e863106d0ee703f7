// The continuation records that a hook writes: values, texts, buffers, losses.
// SPDX-License-Identifier: MIT

#include "trace/capi/hook_records.h"
#include "trace/record/record.h"
#include "trace/record/ring.h"
#include "trace/values/call_values.h"

capi_ledger capi_ledger_of;

int hook_record_slow(uint64_t start, uint64_t at, uint64_t obj, uint64_t val, uint64_t aux,
                     uint64_t func_flags) {
    event *record = ring_open();
    if (record) {
        uint64_t depth = ring_depth_byte((uint32_t)(at >> 32));
        hook_fill(record, depth << 32 | (uint32_t)at, obj, val, aux, func_flags);
        record->start = start;
        ring_stop_ticks(record);
        ring_commit();
    }
    return record != NULL;
}

void hook_callback(event *record, PyObject *callable) {
    PyObject *function = callable && PyMethod_Check(callable) ? PyMethod_GET_FUNCTION(callable) : callable;
    if (function && PyFunction_Check(function) && running_is_ours()) {
        record->kind = EVENT_CALLBACK;
        record->flags |= EVENT_FLAG_DEEP;
        PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(function); // borrowed
        record->code = interned_id((PyObject *)code);
        record->lasti = 2 * code->_co_firsttraceable; // the line of its `def`: an offset in bytes
    }
}

static event *continuation(const hook_call *call, uint8_t kind) {
    event *record = ring_open();
    if (record) {
        *record = (event){.slot = call->slot, .kind = kind, .flags = EVENT_FLAG_CONTINUATION};
        record->depth = ring_depth_byte(call->depth);
    }
    return record;
}

void hook_value(const hook_call *call, uint32_t number, char format, uint64_t value, uint16_t flags) {
    event *record = continuation(call, EVENT_VALUE);
    if (record) {
        record->lasti = (int32_t)number;
        record->func = (uint8_t)format;
        record->val = value;
        record->flags |= flags;
        ring_commit();
    }
}

void hook_lost(const hook_call *call, PyObject *object, char kind, const void *value, uint32_t bytes,
               uint64_t whole) {
    uint16_t depth = ring_depth_byte(call->depth);
    if (!object || PyFloat_CheckExact(object) || call->place.no_gil) { // a float converts to the same double
        return;
    }
    if (kind == 'u' && PyLong_Check(object) && compat_is_negative(object) && _PyLong_NumBits(object) < 64) {
        return; // the caller may read the word as signed, as ctypes does
    }
    if (kind != 't' && kind != 's') {
        losses_scalar(object, value, bytes, kind, 0, depth);
        return;
    }
    if (kind == 's') { // a caller that passes no size sees the text up to its first NUL
        whole = whole ? 0 : hook_utf8_bytes(object);
    }
    const char *start;
    memcpy(&start, value, sizeof start);
    if (start && strnlen(start, whole) < whole) {
        losses_scalar(object, start, (uint32_t)whole, 't', 0, depth);
    }
}

void hook_bytes(const hook_call *call, uint16_t became, PyObject *array, uint64_t bytes) {
    event *record = continuation(call, EVENT_BYTES);
    if (record) {
        record->func = became;
        record->obj = (uint64_t)array;
        record->val = bytes;
        ring_commit();
    }
}

void hook_text(const hook_call *call, const char *start, Py_ssize_t length) {
    enum { SHOWN = 24 };
    event *record = start ? continuation(call, EVENT_TEXT) : NULL;
    if (record) {
        size_t shown = length < 0 ? strnlen(start, SHOWN + 1) : (size_t)length;
        record->duration = (uint32_t)(shown > UINT32_MAX ? UINT32_MAX : shown);
        memcpy(&record->obj, start, shown < SHOWN ? shown : SHOWN);
        ring_commit();
    }
}

void hook_buffer(const hook_call *call, const Py_buffer *view) {
    event *record = view ? continuation(call, EVENT_BUFFER) : NULL;
    if (record) {
        record->obj = (uint64_t)view->obj;
        record->val = (uint64_t)view->buf;
        record->aux = (uint64_t)view->len;
        record->lasti = (int32_t)view->itemsize;
        record->refs = view->ndim;
        record->func = (uint16_t)view->readonly;
        strncpy((char *)&record->start, view->format ? view->format : "B", sizeof record->start);
        ring_commit();
    }
}
