// Calls that ctypes and cffi make of C functions (foreign_calls.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_FOREIGN_CALLS_H
#define INSPECTOR_FOREIGN_CALLS_H

#include "trace/capi/slot_table.h"

// As libffi describes a call (https://github.com/libffi/libffi, include/ffi.h.in).
typedef struct foreign_type {
    size_t size;
    uint16_t alignment, type;
    struct foreign_type **elements;
} foreign_type;

typedef struct {
    int abi;
    uint32_t count;
    foreign_type **types; // borrowed, like what follows
    foreign_type *result;
} foreign_interface;

typedef void (*foreign_function)(void);
typedef void (*foreign_caller)(foreign_interface *, foreign_function, void *, void **);

uint64_t foreign_word(const foreign_type *type, const void *value); // an argument or result, widened
// The function that makes such calls, as slots import it.
const exports_row *foreign_find(const char *name); // borrowed, or NULL
void *foreign_hook(uint16_t row);
void foreign_find_addresses(PyObject *path /* borrowed str */);
extern int foreign_open __attribute__((visibility("hidden"))); // 1: its calls are recorded
void foreign_leaves_python(void);                              // call it before this thread releases the GIL

#endif
