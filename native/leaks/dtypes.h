// NumPy's own dtypes while a call from Python is open: finds references that C code steals from other owners.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LEDGER_DTYPES_H
#define INSPECTOR_LEDGER_DTYPES_H
#include "leaks/entries/entry.h"

enum { LEDGER_DTYPES_MAX = 32 };
void ledger_dtypes_add(PyObject *dtype /* borrowed: lives as long as NumPy */);
void ledger_dtypes_deinit(void);                                      // forgets all
extern int ledger_dtypes_count __attribute__((visibility("hidden"))); // number of rows
void ledger_dtypes_begin(void); // the outermost call from Python begins; needs a row
void ledger_dtypes_end(void);   // the outermost call ends
// A recorded call stole a reference to the object.
void ledger_dtypes_stolen(PyObject *object /* borrowed: may be freed */);

// Not 0: the hooks report allocated blocks of this size, and all freed blocks.
extern size_t ledger_dtypes_array_bytes __attribute__((visibility("hidden")));
void ledger_dtypes_allocated(void *block);
void ledger_dtypes_freed(uintptr_t block);
void ledger_dtypes_memory_freed(uintptr_t block); // a block of PYMEM_DOMAIN_MEM

#endif
