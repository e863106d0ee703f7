// What the parts of the ledger offer each other.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LEAKS_H
#define INSPECTOR_LEAKS_H

#include "leaks/entries/entry.h"
#include "trace/arm/calls.h"
#include "trace/capi/slot_table.h"

// Hooks of Python's allocators; freed blocks are kept while something may refer to them (frees.c).
int ledger_frees_init(void); // 0, or -1 with an exception set
void ledger_frees_deinit(void);
void ledger_frees_retire(void); // restores the allocators if no check needs the hooks
// Call when the outermost call from Python ends: frees the blocks that waited for its end.
void ledger_frees_settle(void);
extern int ledger_frees_waiting __attribute__((visibility("hidden"))); // whether blocks wait for settle
uint64_t ledger_frees_kept(void);
typedef struct {
    int is_shared;   // the module borrowed it, or passed it on
    Py_ssize_t size; // items of a tuple
} ledger_dying;
ledger_dying ledger_frees_dying(PyObject *object /* borrowed */); // call before it dies
// Returns 1 if its block is now kept and no longer in the free list of its type.
int ledger_frees_reclaim(PyObject *dead /* borrowed: an address */, const ledger_dying *was);

// One C-API call as the ledger notes it: the hooks of each row fill it in.
typedef struct {
    const char *effects; // static text: one letter per parameter (LEDGER_ROLES)
    void *const *where;  // borrowed: addresses of the parameters
    uintptr_t from;
    uint32_t slot;
    uint16_t row;
    char role; // of the result: a letter of LEDGER_ROLES, or 0
    uint8_t is_quiet, took_gil, gave_none;
    PyGILState_STATE gil;
    ledger_dying dying; // state before the call of an object that the call may free
} noted_call;

// leaks/attribute_cache.c: empties CPython's cache of attributes, so that it owns no names.
void names_forget(void);

// Call these around the original. `role` says what happens to the result (column "owns"); 0: nothing.
void ledger_note_before(noted_call *call);
void ledger_note_after(const noted_call *call, PyObject *result /* borrowed */, char role, int failed);
// A variadic call of row `row` returned a new reference.
void ledger_note_result(uint32_t slot, uint16_t row, uintptr_t from, PyObject *result /* borrowed */);

// NumPy's own dtypes while a call from Python is open: finds references that C code steals from other owners.
enum { LEDGER_DTYPES_MAX = 32 };
void ledger_dtypes_add(PyObject *dtype /* borrowed: lives as long as NumPy */);
void ledger_dtypes_deinit(void);                                      // forgets all
extern int ledger_dtypes_count __attribute__((visibility("hidden"))); // number of rows
void ledger_dtypes_begin(void); // the outermost call from Python begins; needs a row
void ledger_dtypes_end(void);   // the outermost call ends
// A recorded call stole a reference to the object.
void ledger_dtypes_stolen(PyObject *object /* borrowed: may be freed */);

// Not 0: the hooks report allocated blocks of this size, and all freed blocks.
extern size_t ledger_dtypes_array_bytes __attribute__((visibility("hidden")));
void ledger_dtypes_allocated(void *block);
void ledger_dtypes_freed(uintptr_t block);
void ledger_dtypes_memory_freed(uintptr_t block); // a block of PYMEM_DOMAIN_MEM

// Views of memory that they do not own, as the hooks of free see them while the ledger is open.
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

extern int ledger_views_earlier __attribute__((visibility("hidden"))); // views that exist already are unknown
void ledger_views_init(void);
void ledger_views_watch_earlier(void);
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

// C statics that stopped referring to an object while the ledger is open.
// Call before a native function runs: copies the writable data of its library, the first time.
void ledger_statics_copy(void *function);
// Number of copied words that named the object and no longer do, at most `most`. Each word counts once.
Py_ssize_t ledger_statics_released(const PyObject *object /* borrowed */, Py_ssize_t most);
void ledger_statics_deinit(void); // drops the copies

// A call from Python while the ledger is open (calls.c), and the hooks of the C API by then (hooks.c).
uintptr_t ledger_call(const calls_called *called, const uintptr_t words[5]);
void ledger_calls_clear(void); // counts from 0
// New dict: number of a call -> how often it was made.
PyObject *ledger_calls(PyObject *module /* borrowed */, PyObject *unused /* borrowed */);
void *ledger_hook(uint16_t row); // NULL: nothing to note of it

// The functions that free memory, as import slots name them (freeing.c).
extern const got_source freeing_source __attribute__((visibility("hidden")));

#endif
