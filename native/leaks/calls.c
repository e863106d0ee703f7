// Calls from Python while the ledger is open: the counts of the arguments before and after.
//
// "Reference Count Details" of CPython's manual, read backwards: who only borrows an argument leaves its
// count as it was, but for the references found in the result. The same goes for what an argument holds one
// level down and C code likes to steal: the dtype and the base of an array, the class of an instance. A
// difference is no verdict yet: it is noted as a balance, and who holds the object is asked at the end.
//
// What protects the process: an argument that is left with no more references than the call itself holds
// would die as soon as the call is over. If it was released too often, somebody still points at it; so it
// gets one reference of the ledger's (LEDGER_HELD), which is given back at the end if nobody does. Nothing
// honest can notice: nobody else has the object.
//
#include "leaks/calls.h"
#include "leaks/call_frame.h"
#include "leaks/call_frames.h"
#include "leaks/entries/entry.h"
#include "leaks/entries/table.h"
#include "leaks/frees.h"
#include "objects/objects.h"
#include "trace/arm/calls.h"
#include "trace/capi/capi.h"
#include "trace/record/convention.h"
#include "trace/record/running.h"

#include "leaks/dtypes.h"
#include "leaks/statics.h"
#include "leaks/views.h"

enum { FOLLOWED = 3 };

typedef struct {
    call_frame *frame; // borrowed
    int depth;
} result_walk;

// A child that only its holder has was made by the call: what it refers to is the result's too.
static int visit_result(PyObject *object, void *argument) {
    result_walk *walk = argument;
    for (int i = 0; i < walk->frame->count; i++) {
        if (walk->frame->items[i].object == object) {
            walk->frame->items[i].found++;
            return 0;
        }
    }
    if (PyLong_CheckExact(object) || PyFloat_CheckExact(object)) { // most results: nothing stands behind them
        return 0;
    }
    ledger_views_look(object);
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

// KeyError(key): what a call raises holds references as its result does.
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

// A method may have kept an argument and forgotten the reference: the count stays, and there is an owner
// more.
static void watch_given(const call_frame *frame, const watched *one) {
    if (one->relation != LEDGER_ITSELF || !one->header || !frame->is_method) {
        return;
    }
    ledger_entry *entry = ledger_enter_given(one->object);
    if (entry) {
        ledger_touch touch = {.role = 'B', .row = CAPI_ROW_COUNT};
        ledger_frame_place(&touch, frame->number);
        ledger_add(entry, &touch);
    }
}

// The caller has one reference at least, the result those that were found in it: what is missing is given, or
// the process ends as soon as both let go.
static int was_returned_unowned(const call_frame *frame, const watched *one) {
    Py_ssize_t missing = one->found + 1 - compat_refcount(one->object);
    if (one->relation != LEDGER_ITSELF || one->found <= 0 || missing <= 0) {
        return 0;
    }
    fault(frame, LEDGER_RETURNED_UNOWNED, one->object);
    Py_SET_REFCNT(one->object, compat_refcount(one->object) + missing);
    return 1;
}

static void weigh(call_frame *frame, watched *one) {
    if (one->died || ledger_is_placeholder(one->object) || compat_refcount(one->object) <= 0) {
        fault(frame, LEDGER_DIED_IN_CALL, one->object);
        return;
    }
    if (was_returned_unowned(frame, one)) {
        return;
    }
    Py_ssize_t after = compat_refcount(one->object), change = after - one->count - one->found;
    if (!change) {
        watch_given(frame, one);
    }
    if (!change || (one->is_behind && change > 0)) {
        return;
    }
    ledger_frame_charge(frame, one->object, change);
    ledger_entry *entry = ledger_unbalanced(&(ledger_imbalance){
        one->object, change, frame->number, one->relation, one->argument, one->is_blurred});
    if (entry && change < 0 && after <= one->held && !(entry->flags & LEDGER_HELD)) {
        Py_INCREF(one->object); // the ledger's, until it is closed
        entry->flags |= LEDGER_HELD;
    }
}

// What a call returns was made by it, or had the references that it has now but for one.
static void note_result(PyObject *result, uint32_t number) {
    int is_number = PyLong_CheckExact(result) || PyFloat_CheckExact(result); // too many, and too cheap
    ledger_entry *entry = is_number || ledger_find((uintptr_t)result) ? NULL : ledger_enter(result, 1);
    if (entry) {
        ledger_touch touch = {.role = 'r', .row = CAPI_ROW_COUNT};
        ledger_frame_place(&touch, number);
        ledger_add(entry, &touch);
    }
}

static void end(call_frame **place) {
    if ((*place)->capsule) {
        ledger_cells_end(*place);
    }
    if (ledger_frame_leave(*place) > 0) {
        return;
    }
    ledger_dtypes_end();
    if (ledger_is_open && ledger_frees_waiting) {
        ledger_frees_settle();
    }
}

static int gives_status(call_convention convention) {
    return convention == CALL_ASSIGN || convention == CALL_INIT;
}

// Whether the caller takes the result for an error. An iterator that has ended says no more than NULL.
static int tells_error(call_convention convention, uintptr_t result, int failed) {
    if (gives_status(convention)) {
        return (int)result < 0;
    }
    return !result && (failed || convention != CALL_NEXT);
}

uintptr_t ledger_call(const calls_called *called, const uintptr_t words[5]) {
    call_frame frame;
    if (!ledger_depth && ledger_dtypes_known) {
        ledger_dtypes_begin();
    }
    ledger_statics_look((void *)called->original);
    ledger_frame_enter(&frame, called->number, called->convention, words);
    // Given back on the way of a C++ exception too.
    call_frame *given_back __attribute__((cleanup(end))) = &frame;
    (void)given_back;
    uintptr_t result = called->original(words[0], words[1], words[2], words[3], words[4]);
    if (!ledger_is_open) {
        return result;
    }
    int failed = PyErr_Occurred() != NULL, is_status = gives_status(called->convention);
    if (result && !is_status) {
        visit_result((PyObject *)result, &(result_walk){&frame, 0});
        note_result((PyObject *)result, called->number);
    }
    if (failed) {
        visit_raised(&frame);
    }
    if (failed != tells_error(called->convention, result, failed)) {
        fault(&frame, failed ? LEDGER_RESULT_WITH_EXCEPTION : LEDGER_NULL_WITHOUT_EXCEPTION, NULL);
        if (failed) { // CPython checks not every call: it would come up somewhere else
            PyErr_Clear();
        }
    }
    if (frame.capsule) {
        ledger_cells_leave(&frame);
    }
    ledger_frame_compare(&frame);
    for (int i = 0; i < frame.count; i++) {
        weigh(&frame, &frame.items[i]);
    }
    return result;
}
