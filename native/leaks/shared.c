// Objects that all code uses, returned without a reference: None, the truths, NotImplemented.
//
// A correct call leaves one reference more to what it returns. Their counts move by whatever else the call
// does, so only this is told: the count stayed where the result should have raised it by one, no field of the
// method's object dropped a reference, and no block freed meanwhile names the object. A container that gives
// away a None does the same, but has raised the count when it was given it. So it is told only where nothing
// but the calls that were told has moved the count since the first call. What a container held before that
// may still explain it: no proof. Python 3.12 and later do not count them.
// SPDX-License-Identifier: MIT
#include "leaks/call_frames.h"
#include "objects/objects.h"

enum { FREED_WORDS = 64 };

static PyObject *const all[SHARED_MAX] = {Py_None, Py_True, Py_False, Py_NotImplemented}; // immortal

static int shared_at(uintptr_t word) {
    int at = 0;
    while (at < SHARED_MAX && word != (uintptr_t)all[at]) {
        at++;
    }
    return at;
}

static Py_ssize_t first[SHARED_MAX], told[SHARED_MAX]; // counts at the first call; calls told since
static int is_begun;

void ledger_shared_open(void) { is_begun = 0; }

void ledger_shared_given(call_frame *frame, const PyObject *argument) {
    int at = shared_at((uintptr_t)argument);
    if (at < SHARED_MAX) {
        frame->given[at]++;
    }
}

void ledger_shared_enter(call_frame *frame) {
    frame->shared_lost = 0;
    for (int i = 0; i < SHARED_MAX; i++) {
        frame->shared[i] = compat_refcount(all[i]);
        first[i] = is_begun ? first[i] : frame->shared[i] - frame->given[i];
        told[i] = is_begun ? told[i] : 0;
    }
    is_begun = 1;
}

UNSANITIZED uint8_t ledger_shared_freed(const uintptr_t *words, uintptr_t count) {
    uint8_t lost = 0;
    for (uintptr_t n = 0; n < count && n < FREED_WORDS; n++) {
        int at = shared_at(words[n]);
        lost |= (uint8_t)(at < SHARED_MAX ? 1 << at : 0);
    }
    return lost;
}

int ledger_shared_unowned(call_frame *frame, const PyObject *result, Py_ssize_t gained) {
    int at = shared_at((uintptr_t)result);
    if (at == SHARED_MAX || compat_is_immortal((PyObject *)result) || frame->shared_lost >> at & 1) {
        return 0;
    }
    Py_ssize_t count = compat_refcount((PyObject *)result);
    if (count != frame->shared[at] || gained || count - frame->given[at] != first[at] - told[at]) {
        return 0;
    }
    told[at]++;
    for (call_frame *outer = frame->outer; outer; outer = outer->outer) {
        outer->shared[at]--; // they see it as well
    }
    return 1;
}
