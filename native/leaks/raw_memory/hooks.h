// The functions that allocate memory, as import slots of chosen modules name them (hooks.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_RAW_MEMORY_HOOKS_H
#define INSPECTOR_RAW_MEMORY_HOOKS_H

#include "trace/capi/slot_table.h"

const exports_row *raw_memory_find(const char *name); // borrowed, or NULL
void *raw_memory_hook(uint16_t row);
void raw_memory_find_addresses(void); // also of libraries that were loaded since the last call

#endif
