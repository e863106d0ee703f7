// One C-API call as the ledger notes it: the hooks of each row fill it in.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LEDGER_NOTES_H
#define INSPECTOR_LEDGER_NOTES_H
#include "leaks/entries/entry.h"
#include "leaks/frees.h"

typedef struct {
    const char *effects; // static text: one letter per parameter (LEDGER_ROLES)
    void *const *where;  // borrowed: addresses of the parameters
    uintptr_t from;
    uint32_t slot;
    uint16_t row;
    char role; // of the result: a letter of LEDGER_ROLES, or 0
    uint8_t is_quiet, took_gil, gave_none;
    PyGILState_STATE gil;
    ledger_dying dying; // state before the call of an object that the call may free
} noted_call;

// Call these around the original. `role` says what happens to the result (column "owns"); 0: nothing.
void ledger_note_before(noted_call *call);
void ledger_note_after(const noted_call *call, PyObject *result /* borrowed */, char role, int failed);
// A variadic call of row `row` returned a new reference.
void ledger_note_result(uint32_t slot, uint16_t row, uintptr_t from, PyObject *result /* borrowed */);

#endif
