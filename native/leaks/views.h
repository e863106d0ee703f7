// Views of memory that they do not own, as the hooks of free see them while the ledger is open.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LEDGER_VIEWS_H
#define INSPECTOR_LEDGER_VIEWS_H

#include "module/native.h"

// One call that frees a block. `give_back` frees the block later, if it was kept.
typedef struct {
    void (*give_back)(void *context, void *block);
    void *context;  // borrowed: lives as long as the process
    uintptr_t from; // return address in the caller; 0: unknown
    uint32_t slot;
    const char *function; // static text
    int cannot_keep;      // the block is freed already and cannot be kept
} ledger_freeing;

// leaks/borrowed.c: the memory that an object shows and that has no known owner. Returns 0 if it shows no
// such memory. `ret_stop` is one past the first byte of the last element.
void borrowed_prepare(void); // finds the ctypes base class, if the process has imported ctypes
int borrowed_range(PyObject *object /* borrowed */, uintptr_t *ret_start, uintptr_t *ret_stop);

extern uint32_t ledger_views_count __attribute__((visibility("hidden"))); // number of watched views

void ledger_views_init(void);                             // watches the views that exist already
void ledger_views_watch(PyObject *object /* borrowed */); // watches the object, if it is such a view
// An allocator domain of Python frees the block. An object in it is no longer watched. Returns 1 if a view
// shows the block: then the caller must keep it.
int ledger_views_domain(uintptr_t block, const ledger_freeing *freeing);
// The same for a block of malloc, whose size is known. Needs no GIL.
int ledger_views_freed(uintptr_t block, size_t bytes, const ledger_freeing *freeing);
int ledger_views_shows(uintptr_t block, size_t bytes); // whether a view shows the block
// The ledger is about to free a block that it kept. Returns 1 if a view shows it: then it stays kept.
int ledger_views_keep(uintptr_t block, const ledger_freeing *freeing);
// The views that dangle, each with the call that freed its memory. New list, or NULL with an exception set.
PyObject *ledger_views_found(PyObject *module /* borrowed */);
void ledger_views_deinit(void); // frees the blocks that no dangling view shows

#endif
