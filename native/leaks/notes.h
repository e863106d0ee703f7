// A call of the C-API as the ledger notes it: what the hooks of each row hand over.
#ifndef INSPECTOR_LEDGER_NOTES_H
#define INSPECTOR_LEDGER_NOTES_H
#include "leaks/entries/entry.h"
#include "leaks/frees.h"

typedef struct {
    const char *effects; // static text: a letter a parameter
    void *const *where;  // borrowed: where the parameters are
    uintptr_t from;
    uint32_t slot;
    uint16_t row;
    char role; // what becomes of the result
    uint8_t is_quiet, took_gil, gave_none;
    PyGILState_STATE gil;
    ledger_of_dying dying; // what it was that the call ends
} noted_call;

// Around the call itself. role: what becomes of the result, by the column "owns"; 0 for nothing.
void ledger_note_before(noted_call *call);
void ledger_note_after(const noted_call *call, PyObject *result /* borrowed */, char role, int failed);
// A variadic call of row `row` gave a new reference.
void ledger_note_result(uint32_t slot, uint16_t row, uintptr_t from, PyObject *result /* borrowed */);

#endif
