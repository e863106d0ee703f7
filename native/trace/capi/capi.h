// The rows of capi.def: their numbers, and the lookup of a function by name.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CAPI_H
#define INSPECTOR_CAPI_H

#include "trace/capi/slot_table.h"

// The row numbers: capi_PyLong_AsLong etc.
enum {
#define CAPI(name, ...) capi_##name,
#define CAPI_VOID(name, ...) capi_##name,
#define CAPI_VA(name, ...) capi_##name,
#define CAPI_ENTRY(name, ...) capi_##name,
#include "trace/capi/capi.def"
    CAPI_ROW_COUNT
};

uint32_t capi_hash(const char *name);
uint16_t capi_find(const char *name); // the row, or CAPI_NO_ROW
int capi_calls(uint16_t row);         // whether it calls its first parameter

#endif
