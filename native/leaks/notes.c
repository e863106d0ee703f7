// The effect of a C-API call on the counts of objects: the ledger notes it before and after the call.
//
// A call without the GIL must not touch the ledger: it is recorded as a fault. If its thread has released the
// GIL (Py_BEGIN_ALLOW_THREADS), the hook takes it for the length of the call, so that the process survives. A
// thread that Python does not know runs the call unchanged.
// SPDX-License-Identifier: MIT
#define INSPECTOR_PLAIN_NAMES
#include "leaks/entries/table.h"
#include "leaks/leaks.h"
#include "leaks/raw_memory/followed.h"
#include "trace/capi/capi.h"
#include "trace/record/record.h"
#include "trace/record/ring.h"

static void note(const noted_call *call, PyObject *object, char role, Py_ssize_t new_references) {
    ledger_entry *entry = object ? ledger_enter(object, new_references) : NULL;
    if (!entry) {
        return;
    }
    running_place place = running_where_held();
    ledger_touch touch = {.from = call->from, .slot = call->slot, .row = call->row, .role = (uint8_t)role};
    touch.code = place.code;
    touch.lasti = place.lasti;
    touch.method = ring_here.method;
    touch.delta = (int8_t)Py_MIN(127, compat_refcount(object));
    ledger_add(entry, &touch);
    if (role == '+' || role == 'S' || role == 's') {
        entry->flags |= LEDGER_STORED;
    } else if (role == 'n' || role == '=') {
        ledger_views_watch(object);
    }
}

static PyObject *word_at(const noted_call *call, int i) { return *(PyObject *const *)call->where[i]; }

// The arguments are noted before the call: afterwards an object may be freed.
void ledger_note_before(noted_call *call) {
    call->is_quiet = !ledger_is_open;
    if (call->is_quiet) {
        return;
    }
    got_words_of[call->slot].count++;
    greenlets_settle();
    if (!running_has_gil()) {
        call->is_quiet = 1;
        ledger_fault_add(&(ledger_fault){.kind = LEDGER_WITHOUT_GIL,
                                         .from = call->from,
                                         .slot = call->slot,
                                         .row = call->row,
                                         .method = ring_here.method});
        if (PyGILState_GetThisThreadState()) {
            call->gil = PyGILState_Ensure();
            call->took_gil = 1;
        }
        return;
    }
    if (ledger_views_earlier) {
        ledger_views_watch_earlier();
    }
    if (call->role == 'm') {
        raw_memory_hand_begin();
    }
    if (call->row == capi_PyObject_Init) { // raw memory until the call returns
        return;
    }
    for (int i = 0; call->effects[i]; i++) {
        char role = call->effects[i];
        if (role == 'x') {
            call->dying = ledger_frees_dying(word_at(call, i));
        }
        if (role == 'S' || role == 's' || role == 'x' || role == '+') {
            note(call, word_at(call, i), role, 0);
        } else if (role == '-' && call->row == capi_PyBuffer_Release) {
            note(call, (*(Py_buffer *const *)call->where[i])->obj, role, 0);
        } else if (role == '-') {
            note(call, word_at(call, i), role, 0);
        }
    }
}

// A dead object whose block stays in the free list of its type, so no free is seen.
static void note_listed(PyObject *object) {
    ledger_entry *entry = ledger_find((uintptr_t)object);
    if (entry && !(entry->flags & LEDGER_DEAD)) {
        entry->flags |= LEDGER_LISTED;
    }
}

// A stealing call failed. One that stole all the same may have ended the object, in the free list of its
// type.
static void note_failed_steal(const noted_call *call, uintptr_t object) {
    ledger_entry *entry = ledger_find(object);
    if (!entry) {
        return;
    }
    ledger_touch_failed(entry, call->row);
    PyVarObject dead;
    if (!(entry->flags & LEDGER_DEAD) && memory_read(object, &dead, sizeof dead) == sizeof dead &&
        compat_refcount((PyObject *)&dead) == 0) {
        ledger_dying was = {1, entry->type == (uintptr_t)&PyTuple_Type ? dead.ob_size : 0};
        int is_kept = ledger_frees_reclaim((PyObject *)object, &was);
        entry->flags |= is_kept ? 0 : LEDGER_LISTED;
    }
}

void ledger_note_after(const noted_call *call, PyObject *result, char role, int failed) {
    if (call->took_gil) {
        PyGILState_Release(call->gil);
    }
    if (call->is_quiet || !ledger_is_open) {
        return;
    }
    raw_memory_is_handing = 0;
    for (int i = 0; call->effects[i]; i++) {
        if (call->effects[i] == 'x' && !ledger_frees_reclaim(word_at(call, i), &call->dying)) {
            note_listed(word_at(call, i));
        }
        char role = call->effects[i];
        if (role == 'S' || (role == 's' && !failed)) {
            ledger_dtypes_stolen(word_at(call, i));
        }
        if (failed && (role == 'S' || role == 's')) {
            note_failed_steal(call, (uintptr_t)word_at(call, i));
        }
        int is_stored = !failed && (role == '=' || role == '*' || (role == 'o' && !call->gave_none));
        PyObject **stored = is_stored ? (PyObject **)word_at(call, i) : NULL;
        if (stored) { // an object that was resized in place keeps its touches
            int is_new = role == '=' || (role == '*' && !ledger_find((uintptr_t)*stored));
            note(call, *stored, role, is_new);
        }
    }
    if (!failed && role == 'm') {
        raw_memory_handed_over(call->row, result, call->where);
    } else if (!failed && role) {
        role = call->row == capi_PyObject_Init ? 'n' : role;
        note(call, result, role, role == 'n');
    }
}

void ledger_note_result(uint32_t slot, uint16_t row, uintptr_t from, PyObject *result) {
    if (ledger_is_open && result && running_has_gil()) {
        got_words_of[slot].count++;
        note(&(noted_call){.from = from, .slot = slot, .row = row}, result, 'n', 1);
    }
}
