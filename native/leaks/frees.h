// Deaths: the object allocator is asked first, and the dead are kept apart as long as somebody may err
// (frees.c).
#ifndef INSPECTOR_FREES_H
#define INSPECTOR_FREES_H

#include "module/native.h"

int ledger_frees_init(void); // 0, or -1 with an exception set
void ledger_frees_deinit(void);
void ledger_frees_retire(void); // the allocator is put back, where nobody listens any more
// A call from Python begins, and the outermost one ends: blocks that waited for its end are given back.
void ledger_frees_settle(void);
extern int ledger_frees_waiting __attribute__((visibility("hidden"))); // whether there is something to settle
uint64_t ledger_frees_kept(void);
typedef struct {
    int is_others;   // it was lent to the module, or the module gave it away
    Py_ssize_t size; // of a tuple
} ledger_of_dying;
ledger_of_dying ledger_frees_dying(PyObject *object /* borrowed */); // asked before it dies
// 1: its block is kept apart, and is no longer in the list of dead of its type.
int ledger_frees_reclaim(PyObject *dead /* borrowed: an address */, const ledger_of_dying *was);

#endif
