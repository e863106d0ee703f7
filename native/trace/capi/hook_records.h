// What all hooks share: filling a record, in the grades record and deep.
//
// A hook calls the original function with its arguments, then fills one record. It allocates nothing, takes
// no lock, calls no Python API but PyErr_Occurred (with the GIL, where -1 or NULL is ambiguous), and
// preserves exception, errno and result.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_HOOK_RECORDS_H
#define INSPECTOR_HOOK_RECORDS_H

#include "trace/capi/capi.h"
#include "trace/capi/trampolines.h"
#include "trace/record/interned.h"
#include "trace/record/record.h"
#include "trace/record/ring.h"
#include "trace/record/stacks.h"

// A variadic function returned a new reference. `from`: the caller's return address.
typedef void (*capi_new_result)(uint32_t slot, uint16_t row, uintptr_t from, PyObject *result /* borrowed */);
// The ledger of references, which is in a layer above, sets these.
typedef struct {
    void *(*hook)(uint16_t row); // when it is loaded: the hook of grade GOT_LEDGER, or NULL for a row
    capi_new_result new_result;  // while it is open; else NULL
} capi_ledger;
extern capi_ledger capi_ledger_of __attribute__((visibility("hidden")));

// Any C value as a 64-bit word of a record: signed values are sign-extended, a double gives its bits.
#define HOOK_WORD(value) \
    __builtin_choose_expr(__builtin_types_compatible_p(__typeof__(value), double), \
                          ((union { \
                              __typeof__(value) from; \
                              uint64_t bits; \
                          }){.from = (value)}) \
                              .bits, \
                          (uint64_t)(value))

// The state of a hooked call from its begin.
typedef struct {
    uint64_t start;
    uintptr_t from; // the caller's return address
    uint32_t slot, depth;
    uint64_t at;         // depth and slot in one word: half the registers to keep during the call
    running_place place; // deep
    uint32_t type;       // deep: type of obj, read before the call
    int32_t refs;        // deep: refcount of obj before the call
} hook_call;

// A static type or module definition has no type before PyType_Ready or PyModuleDef_Init.
static inline uint32_t hook_type(PyObject *object /* borrowed */) {
    return Py_TYPE(object) ? interned_id((PyObject *)Py_TYPE(object)) : 0;
}

ALWAYS_INLINE hook_call hook_begin(int deep, PyObject *object /* borrowed */) {
    hook_call call = {.slot = ring_here.slot, .type = 0, .refs = 0, .place = {0}};
    call.from = (uintptr_t)__builtin_return_address(0);
    call.depth = ring_enter();
    call.at = (uint64_t)call.depth << 32 | call.slot;
    if (deep) {
        call.place = running_where();
        if (object && call.place.is_ours) {
            call.refs = (int32_t)Py_REFCNT(object);
            call.type = hook_type(object);
        }
    }
    call.start = 0;
    if (__builtin_expect(ring_clocks, 0)) { // out of line for sessions without a clock
        call.start = ring_ticks();
    }
    return call;
}

_Static_assert(offsetof(event, slot) == offsetof(event, duration) + 4 &&
                   offsetof(event, func) == offsetof(event, refs_delta) + 2 &&
                   offsetof(event, flags) == offsetof(event, refs_delta) + 4 &&
                   offsetof(event, kind) == offsetof(event, refs_delta) + 6 &&
                   offsetof(event, depth) == offsetof(event, refs_delta) + 7,
               "hook_open writes these together");

ALWAYS_INLINE event *hook_open(const hook_call *call, uint16_t func, uint16_t flags) {
    event *record = ring_open();
    if (__builtin_expect(record != NULL, 1)) {
        // Two stores for seven members: 0.2 ns of 4.3.
        uint64_t duration_slot = (uint64_t)call->slot << 32;
        uint64_t refs_delta_to_depth = (uint64_t)func << 16 | (uint64_t)flags << 32 |
                                       (uint64_t)EVENT_CAPI << 48 |
                                       (uint64_t)ring_depth_byte(call->depth) << 56;
        record->start = call->start;
        __builtin_memcpy((char *)record + offsetof(event, duration), &duration_slot, 8);
        __builtin_memcpy((char *)record + offsetof(event, refs_delta), &refs_delta_to_depth, 8);
        ring_stop_ticks(record);
    }
    return record;
}

// The columns of grade deep, where the object may be read. `made`: the object is the call's result.
ALWAYS_INLINE void hook_deep(event *record, const hook_call *call, PyObject *object /* borrowed */, int made,
                             int may_be_freed) {
    record->flags |= EVENT_FLAG_DEEP | (call->place.no_gil ? EVENT_FLAG_NO_GIL : 0);
    record->code = call->place.code;
    record->lasti = call->place.lasti;
    record->type = call->type;
    record->refs = call->refs;
    record->refs_delta = may_be_freed ? EVENT_REFS_GONE : 0;
    if (object && made && call->place.is_ours) {
        record->type = hook_type(object);
        record->refs = (int32_t)Py_REFCNT(object);
    } else if (object && !may_be_freed) {
        int64_t delta = (int64_t)Py_REFCNT(object) - call->refs;
        record->refs_delta = (int16_t)(delta > INT16_MAX    ? INT16_MAX
                                       : delta < -INT16_MAX ? -INT16_MAX
                                                            : delta);
    }
}

static inline void hook_plain(event *record) {
    record->type = record->code = 0;
    record->lasti = record->refs = 0; // refs_delta is 0 since hook_open
}

// The whole record of grade record. Fast calls wait for it, so every instruction counts.
static inline uint64_t hook_func_flags(uint16_t func, uint16_t flags) {
    return (uint64_t)func << 16 | (uint64_t)flags << 32 | (uint64_t)EVENT_CAPI << 48;
}

_Static_assert(offsetof(event, slot) + 4 == offsetof(event, type) &&
                   offsetof(event, type) + 16 == offsetof(event, refs_delta),
               "hook_fill writes these together");

ALWAYS_INLINE void hook_fill(event *record, uint64_t at, uint64_t obj, uint64_t val, uint64_t aux,
                             uint64_t func_flags) {
    record->obj = obj;
    record->val = val;
    record->aux = aux;
    uint64_t slot = at << 32, last = func_flags | at >> 32 << 56;
    memcpy((char *)record + offsetof(event, duration), &slot, 8);
    memset((char *)record + offsetof(event, type), 0, 16);
    memcpy((char *)record + offsetof(event, refs_delta), &last, 8);
}

// trace/capi/hook_records.c: the same out of line: failed calls, deep calls, and rings without free room.
int hook_record_slow(uint64_t start, uint64_t at, uint64_t obj, uint64_t val, uint64_t aux,
                     uint64_t func_flags) __attribute__((noinline, cold));

// Returns 1, or 0 where the ring had no room.
ALWAYS_INLINE int hook_record(const hook_call *call, uint64_t obj, uint64_t val, uint64_t aux, uint16_t func,
                              int failed, uint16_t flags) {
    ring *own = ring_here.ring;
    uint64_t head = own ? own->header.head : 0, at = call->at;
    if (__builtin_expect(failed || !own || head >= own->limit || at >> 32 > UINT8_MAX, 0)) {
        flags = failed ? EVENT_FLAG_ERROR : flags;
        return hook_record_slow(call->start, at, obj, val, aux, hook_func_flags(func, flags));
    }
    event *record = own->records + (head & own->mask);
    hook_fill(record, at, obj, val, aux, hook_func_flags(func, flags));
    record->start = 0;
    if (__builtin_expect(ring_clocks, 0)) {
        record->start = call->start;
        ring_stop_ticks(record);
    }
    __builtin_prefetch(record + 1 + RING_AHEAD, 1); // past the ring's end the prefetch does nothing
    __atomic_store_n(&own->header.head, head + 1, __ATOMIC_RELEASE);
    return 1;
}

// Where an int does not fit into 64 unsigned bits, of which a mask silently keeps the low ones: how many bits
// it has, plus WRAPS_NEGATIVE below zero; else 0.
enum { WRAPS_NEGATIVE = 1 << 30 };
static inline uint64_t hook_wraps(PyObject *object /* borrowed */) {
    if (!object || !PyLong_Check(object)) {
        return 0;
    }
    uint64_t bits = (uint64_t)_PyLong_NumBits(object), most = WRAPS_NEGATIVE - 1;
    bits = bits < most ? bits : most;
    return compat_is_negative(object) ? bits | WRAPS_NEGATIVE : bits > 64 ? bits : 0;
}

// Bytes of the UTF-8 that PyUnicode_AsUTF8 has just created: a NUL among them ends the C string early.
static inline uint64_t hook_utf8_bytes(PyObject *text /* borrowed */) {
    Py_ssize_t bytes = 0;
    return PyUnicode_AsUTF8AndSize(text, &bytes) ? (uint64_t)bytes : 0;
}

// What a conversion may lose, by the function's name; 0: nothing, or the call fails instead.
#define HOOK_IS(name, other) (__builtin_strcmp(#name, #other) == 0)
#define HOOK_LOSES(name) \
    (HOOK_IS(name, PyLong_AsUnsignedLongMask) || HOOK_IS(name, PyLong_AsUnsignedLongLongMask) ? 'u' \
     : HOOK_IS(name, PyFloat_AsDouble) || HOOK_IS(name, PyLong_AsDouble)                      ? 'f' \
     : HOOK_IS(name, PyUnicode_AsUTF8)                                                        ? 't' \
     : HOOK_IS(name, PyUnicode_AsUTF8AndSize)                                                 ? 's' \
                                                                                              : 0)
void hook_lost(const hook_call *call, PyObject *object /* borrowed */, char kind, const void *value,
               uint32_t bytes, uint64_t whole /* bytes of the whole text */);

// trace/capi/hook_records.c: continuations of the record that was just committed.
void hook_value(const hook_call *call, uint32_t number, char format, uint64_t value, uint16_t flags);
void hook_text(const hook_call *call, const char *start, Py_ssize_t length /* -1: to the NUL */);
void hook_buffer(const hook_call *call, const Py_buffer *view);
void hook_bytes(const hook_call *call, uint16_t became, PyObject *array /* borrowed */, uint64_t bytes);

// Turns the record of a call into that of a callback where the callable is a Python function.
void hook_callback(event *record, PyObject *callable /* borrowed: alive */);

#endif
