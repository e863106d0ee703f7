// A call from Python while the ledger is open (calls.c), and the hooks of the C API by then (hooks.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LEDGER_CALLS_H
#define INSPECTOR_LEDGER_CALLS_H

#include "trace/arm/calls.h"

uintptr_t ledger_call(const calls_called *called, const uintptr_t words[5]);
void *ledger_hook(uint16_t row); // NULL: nothing to note of it

#endif
