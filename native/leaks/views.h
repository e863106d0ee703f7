// Views that show memory of others while the ledger is open, as its hooks of freeing see them.
#ifndef INSPECTOR_LEDGER_VIEWS_H
#define INSPECTOR_LEDGER_VIEWS_H

#include "module/native.h"

#include <stdint.h>

// What frees a block; `give_back` does it where nobody shows the block.
typedef struct {
    void (*give_back)(void *context, void *block);
    void *context;  // borrowed: for as long as the process lives
    uintptr_t from; // where the caller goes on; 0: not known
    uint32_t slot;
    const char *function; // static text
    int is_gone;          // it cannot be kept
} ledger_freeing;

// leaks/borrowed.c: what an object shows that nobody is known to keep; 0 where it shows no such memory.
// `ret_stop` is behind the first byte of its last element.
void borrowed_prepare(void); // finds ctypes, if the process has imported it
int borrowed_range(PyObject *object /* borrowed */, uintptr_t *ret_start, uintptr_t *ret_stop);

extern uint32_t ledger_views_count __attribute__((visibility("hidden"))); // how many are watched

void ledger_views_init(void);                            // looks at what is there already
void ledger_views_look(PyObject *object /* borrowed */); // watches it, where it is a view of others' memory
// A domain of Python frees the block: an object in it is watched no more. 1: a view shows it, so it is kept.
int ledger_views_domain(uintptr_t block, const ledger_freeing *freeing);
// The same for a block of malloc's, whose size is known. Needs no GIL.
int ledger_views_freed(uintptr_t block, size_t bytes, const ledger_freeing *freeing);
int ledger_views_shows(uintptr_t block, size_t bytes); // whether one shows the block
// A block that the ledger kept for reasons of its own is to be given back: 1 where a view shows it.
int ledger_views_hold(uintptr_t block, const ledger_freeing *freeing);
// The views that dangle, each with who freed their memory. New list, or NULL with an exception set.
PyObject *ledger_views_found(PyObject *module /* borrowed */);
void ledger_views_deinit(void); // gives back what no such view shows

#endif
