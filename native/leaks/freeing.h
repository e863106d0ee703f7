// The functions that free memory, as import slots name them (freeing.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_FREEING_H
#define INSPECTOR_FREEING_H

#include "trace/capi/slot_table.h"

const exports_row *freeing_find(const char *name); // borrowed, or NULL
void *freeing_hook(uint16_t row);
void freeing_find_addresses(void); // also of libraries that were loaded since the last call

#endif
