// Calls from Python while the ledger is open: the counts of the arguments before and after.
//
// A call that only borrows an argument leaves its count unchanged ("Reference Count Details" in CPython's
// manual), except for references found in the result. The same holds one level down for what C code often
// steals: the dtype and the base of an array, the class of an instance. A difference is no verdict yet: it is
// noted as a balance, and the owners are searched at the end.
//
// What protects the process: an argument that is left with only the references of the call itself would die
// when the call ends. If it was released too often, something still refers to it. So the ledger takes one
// reference to it (LEDGER_HELD) and drops it at the end if nothing refers to it. No correct code can notice:
// only the call has the object.
// SPDX-License-Identifier: MIT
#include "trace/arm/calls.h"
#include "leaks/call_frames.h"
#include "leaks/entries/table.h"
#include "leaks/leaks.h"
#include "leaks/raw_memory/followed.h"
#include "objects/objects.h"
#include "trace/capi/capi.h"
#include "trace/record/convention.h"
#include "trace/record/greenlets.h"
#include "trace/record/record.h"

enum { FOLLOWED = 3 };

static uint32_t seen[CALLS_MAX]; // calls by number while the ledger is open; exact under the GIL

void ledger_calls_clear(void) { memset(seen, 0, sizeof seen); }

PyObject *ledger_calls(PyObject *module, PyObject *unused) {
    PyObject *counts = PyDict_New(); // new
    for (uint32_t i = 0; counts && i < CALLS_MAX; i++) {
        _owned_ PyObject *number = seen[i] ? PyLong_FromUnsignedLong(i) : NULL;
        _owned_ PyObject *count = number ? PyLong_FromUnsignedLong(seen[i]) : NULL;
        if (seen[i] && (!count || PyDict_SetItem(counts, number, count) < 0)) {
            Py_CLEAR(counts);
        }
    }
    return counts;
}

typedef struct {
    call_frame *frame; // borrowed
    int depth;
} result_walk;

// A child with no other holder was made by the call: what it refers to counts as part of the result.
static int visit_result(PyObject *object, void *argument) {
    result_walk *walk = argument;
    for (int i = 0; i < walk->frame->count; i++) {
        if (walk->frame->items[i].object == object) {
            walk->frame->items[i].found++;
            return 0;
        }
    }
    if (PyLong_CheckExact(object) || PyFloat_CheckExact(object)) { // most results: they refer to nothing
        return 0;
    }
    ledger_views_watch(object);
    if (walk->depth < FOLLOWED && compat_refcount(object) == 1) {
        result_walk inner = {walk->frame, walk->depth + 1};
        if (edges_has(object)) {
            edges_visit(object, visit_result, &inner);
        } else if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE)) {
            visit_result((PyObject *)Py_TYPE(object), &inner);
        }
    }
    return 0;
}

// A raised exception holds references as a result does: KeyError(key).
static void visit_raised(call_frame *frame) {
    PyThreadState *thread = PyThreadState_Get();
    PyObject *raised[] = {compat_raised(thread), compat_raised_traceback(thread)}; // borrowed
    for (int i = 0; i < 2; i++) {
        if (raised[i]) {
            visit_result(raised[i], &(result_walk){frame, 0});
        }
    }
}

static void fault(const call_frame *frame, int kind, const PyObject *object) {
    running_place place = running_where_held();
    ledger_fault_add(&(ledger_fault){.kind = (uint8_t)kind,
                                     .address = (uintptr_t)object,
                                     .method = frame->number + 1,
                                     .row = CAPI_ROW_COUNT,
                                     .code = place.code,
                                     .lasti = place.lasti});
}

// A method may store an argument without taking a reference: the count stays, but there is one owner more.
static void watch_unchanged(const call_frame *frame, const watched *item) {
    if (item->relation != LEDGER_ITSELF || !item->header || !frame->is_method) {
        return;
    }
    ledger_entry *entry = ledger_enter_argument(item->object);
    int is_self = !item->argument; // it stores others in itself
    if (entry && !(is_self && entry->touches)) {
        ledger_touch touch = {.role = is_self ? 'h' : 'B', .row = CAPI_ROW_COUNT};
        ledger_frame_place(&touch, frame->number);
        ledger_add(entry, &touch);
    }
}

// The caller has at least one reference, and the result those found in it. Missing ones are added, or the
// process would crash when both are released.
static int was_returned_unowned(const call_frame *frame, const watched *item) {
    Py_ssize_t missing = item->found + 1 - compat_refcount(item->object);
    if (item->relation != LEDGER_ITSELF || item->found <= 0 || missing <= 0) {
        return 0;
    }
    fault(frame, LEDGER_RETURNED_UNOWNED, item->object);
    Py_SET_REFCNT(item->object, compat_refcount(item->object) + missing);
    return 1;
}

static void check_count(call_frame *frame, watched *item) {
    if (item->died || ledger_is_placeholder(item->object) || compat_refcount(item->object) <= 0) {
        if (!item->is_field) { // nobody but the method's object has to hold what a field of it held
            fault(frame, LEDGER_DIED_IN_CALL, item->object);
        }
        return;
    }
    if (!item->is_field && was_returned_unowned(frame, item)) {
        return;
    }
    Py_ssize_t after = compat_refcount(item->object), change = after - item->count - item->found;
    if (!change && !item->is_field) {
        watch_unchanged(frame, item);
    }
    if (!change || (item->is_behind && change > 0)) {
        return;
    }
    ledger_frame_charge(frame, item->object, change);
    ledger_entry *entry = ledger_unbalanced(&(ledger_imbalance){
        item->object, change, frame->number, item->relation, item->argument, item->is_blurred});
    if (entry && change > 0 && !item->is_field) {
        ledger_settle_kept(frame, entry, change);
    }
    if (entry && change < 0 && after <= item->held && !(entry->flags & LEDGER_HELD)) {
        Py_INCREF(item->object); // owned by the ledger until it is closed
        entry->flags |= LEDGER_HELD;
    }
}

// A result is new, or had its present references before, less one.
static void note_result(call_frame *frame, PyObject *result) {
    int is_number = PyLong_CheckExact(result) || PyFloat_CheckExact(result); // too many of them, and cheap
    ledger_entry *entry = is_number || ledger_find((uintptr_t)result) ? NULL : ledger_enter(result, 1);
    if (entry) {
        ledger_touch touch = {.role = 'r', .row = CAPI_ROW_COUNT};
        ledger_frame_place(&touch, frame->number);
        ledger_add(entry, &touch);
    }
    if (is_number) {
        return;
    }
    ledger_settle_result(frame, result);
}

// What is watched beside the positional arguments.
static void begin(call_frame *frame, call_convention convention, const uintptr_t words[5]) {
    if (convention == CALL_KEYWORDS || convention == CALL_INIT) {
        ledger_keywords_enter(frame, (PyObject *)words[2], UINT8_MAX / 2);
    }
    ledger_fields_watch(frame);
    ledger_shared_enter(frame);
}

static void end(const ledger_opened *call) {
    if (!ledger_is_opened(call)) {
        return;
    }
    ledger_frame_leave(call->frame);
    if (ledger_depth) {
        return;
    }
    ledger_dtypes_end();
    if (ledger_is_open && ledger_frees_waiting) {
        ledger_frees_settle();
    }
}

// Whether the caller reads the result as an error. An ended iterator returns NULL without an exception.
static int means_error(call_convention convention, uintptr_t result, int failed) {
    return call_returns_status(convention) ? call_has_failed(convention, result)
                                           : !result && (failed || convention != CALL_NEXT);
}

// What the result and the arguments say once the call is over.
static void check(call_frame *frame, const calls_called *called, const uintptr_t words[5], uintptr_t result) {
    int failed = PyErr_Occurred() != NULL;
    PyObject *handed = call_handed(called->convention, words, result); // borrowed
    if (handed) {
        if (ledger_shared_unowned(frame, handed, ledger_frame_gained(frame, handed))) {
            fault(frame, LEDGER_RETURNED_SHARED, handed);
        }
        visit_result(handed, &(result_walk){frame, 0});
        if (called->convention != CALL_BUFFER) {
            note_result(frame, handed);
        }
    }
    if (failed) {
        visit_raised(frame);
    }
    if (failed != means_error(called->convention, result, failed)) {
        fault(frame, failed ? LEDGER_RESULT_WITH_EXCEPTION : LEDGER_NULL_WITHOUT_EXCEPTION, NULL);
        if (failed) { // CPython does not check every call: it would surface elsewhere
            PyErr_Clear();
        }
    }
    if (frame->capsule) {
        ledger_capsules_leave(frame);
    }
    ledger_keywords_leave(frame);
    ledger_fields_compare(frame);
    ledger_frame_compare(frame);
    ledger_settle_fields(frame);
    if (handed && words[0] && PyType_Check((PyObject *)words[0])) { // 0: a static function of torch
        ledger_frame_adopt(frame, handed);
    }
    for (int i = 0; i < frame->count; i++) {
        check_count(frame, &frame->items[i]);
    }
}

uintptr_t ledger_call(const calls_called *called, const uintptr_t words[5]) {
    seen[called->number]++;
    if (ledger_views_earlier) {
        ledger_views_watch_earlier();
    }
    if (!ledger_depth && ledger_dtypes_count) {
        ledger_dtypes_begin();
    }
    ledger_statics_copy((void *)called->original);
    // `end` runs on the way of a C++ exception too.
    const ledger_opened call __attribute__((cleanup(end))) =
        ledger_frame_enter(called->number, called->convention, words);
    if (call.frame) {
        begin(call.frame, called->convention, words);
    }
    uintptr_t result = called->original(words[0], words[1], words[2], words[3], words[4]);
    greenlets_settle();
    if (ledger_is_open && ledger_is_opened(&call)) {
        check(call.frame, called, words, result);
    }
    return result;
}
