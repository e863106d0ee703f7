// The values of the dict in which a call gets its keyword arguments.
//
// C code may take items out of that dict, which releases references of the dict's and none of the caller's.
// SPDX-License-Identifier: MIT
#include "leaks/call_frames.h"

static void count_values(call_frame *frame, int change) {
    PyObject *key, *value; // borrowed
    for (Py_ssize_t at = 0; PyDict_Next(frame->keywords, &at, &key, &value);) {
        watched *item = ledger_frame_find(frame, value);
        if (item) {
            item->found += change;
        }
    }
}

void ledger_keywords_enter(call_frame *frame, PyObject *keywords, int argument) {
    PyObject *key, *value; // borrowed
    if (!keywords || !PyDict_CheckExact(keywords)) {
        return;
    }
    frame->keywords = keywords;
    for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &key, &value);) {
        ledger_frame_watch(frame, value, ++argument);
    }
    count_values(frame, -1);
}

void ledger_keywords_leave(call_frame *frame) {
    if (frame->keywords) {
        count_values(frame, 1);
        frame->keywords = NULL;
    }
}
