// Calls that ctypes and cffi make of C functions (foreign_calls.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_FOREIGN_CALLS_H
#define INSPECTOR_FOREIGN_CALLS_H

#include "trace/capi/slot_table.h"

// The function that makes such calls, as slots import it.
const exports_row *foreign_find(const char *name); // borrowed, or NULL
void *foreign_hook(uint16_t row);
void foreign_find_addresses(PyObject *path /* borrowed str */);
extern int foreign_open __attribute__((visibility("hidden"))); // 1: its calls are recorded
void foreign_leaves_python(void);                              // call it before this thread releases the GIL

#endif
