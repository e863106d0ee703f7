// The entries and touches of the ledger (table.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_TABLE_H
#define INSPECTOR_TABLE_H

#include "leaks/entries/entry.h"

extern int ledger_is_open __attribute__((visibility("hidden")));
int ledger_table_init(void); // 0, or -1 if out of memory
void ledger_table_deinit(void);
enum { LEDGER_ARENAS = 3 };
void ledger_table_ranges(scan_range ret[LEDGER_ARENAS]); // a search skips them
ledger_entry *ledger_find(uintptr_t address);            // or NULL
// Whether the block may be that of an entry: one hashed bit, which other blocks may share. Most freed blocks
// have no entry, and these few kilobytes stay in the L1 cache.
enum { LEDGER_FILTER_LOG2 = 16, LEDGER_FILTER_BITS = 1 << LEDGER_FILTER_LOG2 };
extern uint64_t ledger_filter[LEDGER_FILTER_BITS / 64] __attribute__((visibility("hidden")));
static inline uint32_t ledger_filter_bit(uintptr_t block) {
    return (uint32_t)((block >> 4) * 0x9E3779B97F4A7C15ULL >> (64 - LEDGER_FILTER_LOG2));
}
static inline int ledger_may_hold(uintptr_t block) {
    uint32_t bit = ledger_filter_bit(block);
    return (int)(ledger_filter[bit / 64] >> bit % 64 & 1);
}
ledger_entry *ledger_enter(PyObject *object /* borrowed */,
                           Py_ssize_t new_references); // or NULL: not tracked
// Watches an argument of a method. The new entry; NULL if there is one already, or no room.
ledger_entry *ledger_enter_argument(PyObject *object /* borrowed */);
void ledger_remove(ledger_entry *entry);
// Whether the address still holds the object: some types free their blocks where no hook sees it.
int ledger_is_alive(const ledger_entry *entry);
void ledger_add(ledger_entry *entry, const ledger_touch *touch);
// A call of `row` failed: its touch, the last of the entry, says whether it stole the reference all the same.
void ledger_touch_failed(ledger_entry *entry, uint16_t row);
// New list of its touches, as rows of inspector/_native.pyi; empty for NULL.
PyObject *ledger_touches(const ledger_entry *entry);
void ledger_fault_add(const ledger_fault *fault); // needs no GIL
ledger_entry *ledger_entries(uint32_t *ret_capacity);
// Whether code that no call from Python had entered touched it last: a host's, which may release it again.
int ledger_is_of_host(const ledger_entry *entry, PyObject *object /* borrowed: of the entry, alive */);
const ledger_touch *ledger_touch_at(uint32_t number);
const ledger_fault *ledger_faults(uint32_t *ret_count);
uint64_t ledger_dropped(void); // entries and touches that did not fit

#endif
