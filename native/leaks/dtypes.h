// NumPy's own dtypes while a call from Python is open: who steals one that is not the caller's.
#ifndef INSPECTOR_LEDGER_DTYPES_H
#define INSPECTOR_LEDGER_DTYPES_H
#include "leaks/entries/entry.h"

enum { LEDGER_DTYPES_MAX = 32 };
void ledger_dtypes_know(PyObject *dtype /* borrowed: lives as long as NumPy */);
void ledger_dtypes_deinit(void);                                      // knows none
extern int ledger_dtypes_known __attribute__((visibility("hidden"))); // how many
void ledger_dtypes_begin(void); // the outermost call from Python begins: where some are known
void ledger_dtypes_end(void);   // and ends
// A recorded call has taken a reference to it over.
void ledger_dtypes_stolen(PyObject *object /* borrowed: maybe gone */);

// While it is not 0: blocks of this size that are given out, and all that are freed, are told.
extern size_t ledger_dtypes_array_bytes __attribute__((visibility("hidden")));
void ledger_dtypes_born(void *block);
void ledger_dtypes_freed(uintptr_t block);
void ledger_dtypes_memory_freed(uintptr_t block); // which is no object's

#endif
