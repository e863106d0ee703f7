// C statics that stopped referring to an object while the ledger is open.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LEDGER_STATICS_H
#define INSPECTOR_LEDGER_STATICS_H

#include "module/native.h"

// Call before a native function runs: copies the writable data of its library, the first time.
void ledger_statics_copy(void *function);
// Number of copied words that named the object and no longer do, at most `most`. Each word counts once.
Py_ssize_t ledger_statics_released(const PyObject *object /* borrowed */, Py_ssize_t most);
void ledger_statics_deinit(void); // drops the copies

#endif
