// NumPy's function table PyArray_API (numpy_table.c), as the ledger of references uses it.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_NUMPY_TABLE_H
#define INSPECTOR_NUMPY_TABLE_H

#include "module/native.h"

// Set by the ledger when it is loaded. know_dtype gets NumPy's own dtypes when the table is armed for it.
typedef struct {
    void (*know_dtype)(PyObject *dtype /* borrowed */);
    void (*forget_dtypes)(void);
} numpy_ledger;
extern numpy_ledger numpy_table_ledger __attribute__((visibility("hidden")));

#endif
