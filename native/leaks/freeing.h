// The functions that free memory, as import slots name them (freeing.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_FREEING_H
#define INSPECTOR_FREEING_H

#include "trace/capi/slot_table.h"

extern const got_source freeing_source __attribute__((visibility("hidden")));

#endif
