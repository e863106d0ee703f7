// The functions that allocate memory, as import slots of chosen modules name them (hooks.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_RAW_MEMORY_HOOKS_H
#define INSPECTOR_RAW_MEMORY_HOOKS_H

#include "trace/capi/slot_table.h"

extern const got_source raw_memory_source __attribute__((visibility("hidden")));

#endif
