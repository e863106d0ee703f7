// The patched slots of the process, shared by trampolines, hooks and the code that arms them (slot_table.h).
// SPDX-License-Identifier: MIT
#include "trace/capi/slot_table.h"

got_words got_words_of[GOT_PLACES];
uint16_t got_rows[GOT_SLOTS];
