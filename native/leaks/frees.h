// Hooks of Python's allocators; freed blocks are kept while something may refer to them (frees.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_FREES_H
#define INSPECTOR_FREES_H

#include "module/native.h"

int ledger_frees_init(void); // 0, or -1 with an exception set
void ledger_frees_deinit(void);
void ledger_frees_retire(void); // restores the allocators if no check needs the hooks
// Call when the outermost call from Python ends: frees the blocks that waited for its end.
void ledger_frees_settle(void);
extern int ledger_frees_waiting __attribute__((visibility("hidden"))); // whether blocks wait for settle
uint64_t ledger_frees_kept(void);
typedef struct {
    int is_shared;   // the module borrowed it, or passed it on
    Py_ssize_t size; // items of a tuple
} ledger_dying;
ledger_dying ledger_frees_dying(PyObject *object /* borrowed */); // call before it dies
// Returns 1 if its block is now kept and no longer in the free list of its type.
int ledger_frees_reclaim(PyObject *dead /* borrowed: an address */, const ledger_dying *was);

#endif
