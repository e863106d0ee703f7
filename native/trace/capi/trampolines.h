// The code that patched slots point at: a trampoline for each slot and grade.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_TRAMPOLINES_H
#define INSPECTOR_TRAMPOLINES_H

#include "machine/machine.h"
#include "trace/capi/slot_table.h"

extern char trampolines_count[] __attribute__((visibility("hidden")));  // count, then jump on
extern char trampolines_record[] __attribute__((visibility("hidden"))); // store the slot, jump to the hook
// Hooks of calls recorded as they begin: any call, a call without a row, calls that release or take the GIL.
extern char trampolines_entry[] __attribute__((visibility("hidden")));
extern char trampolines_named[] __attribute__((visibility("hidden")));
extern char trampolines_released[] __attribute__((visibility("hidden")));
extern char trampolines_taken[] __attribute__((visibility("hidden")));
void trampolines_walk(void); // clears the processor's predictions of patched jumps
extern char trampolines_numpy[] __attribute__((visibility("hidden"))); // words of NumPy's table
static inline void *trampolines_of(got_grade grade, uint32_t slot) {
    return grade == GOT_COUNT ? trampolines_count + MACHINE_COUNT_BYTES * (uint64_t)slot
                              : trampolines_record + MACHINE_RECORD_BYTES * (uint64_t)slot;
}

// The number of the slot whose trampoline this is; GOT_SLOTS: it is none of ours.
static inline uint64_t trampolines_number(const void *function) {
    uint64_t at = (uint64_t)((const char *)function - trampolines_record) / MACHINE_RECORD_BYTES;
    uint64_t counted = (uint64_t)((const char *)function - trampolines_count) / MACHINE_COUNT_BYTES;
    return at < GOT_SLOTS ? at : counted < GOT_SLOTS ? counted : GOT_SLOTS;
}

// The function behind our own trampolines: that of another family of slots may lie under ours.
static inline void *trampolines_behind(void *function) {
    for (uint64_t at; (at = trampolines_number(function)) < GOT_SLOTS;) {
        function = got_words_of[at].original;
    }
    return function;
}

// Returns the address at which a trampoline goes on, given the registers it saved. hooks.c and numpy_table.c
// set these before they store the first trampoline that calls them.
typedef void *(*trampolines_asked)(const uint64_t *kept);
extern trampolines_asked trampolines_note __attribute__((visibility("hidden")));
extern trampolines_asked trampolines_note_numpy __attribute__((visibility("hidden")));

#endif
