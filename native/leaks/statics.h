// What statics of C let go of while the ledger is open.
#ifndef INSPECTOR_LEDGER_STATICS_H
#define INSPECTOR_LEDGER_STATICS_H

#include "module/native.h"

// A function is about to be called: its library's data is copied, the first time.
void ledger_statics_look(void *function);
// How many words named the object then and do no more, at most `most`; each is told once.
Py_ssize_t ledger_statics_let_go(const PyObject *object /* borrowed */, Py_ssize_t most);
void ledger_statics_deinit(void); // the copies are of no use any more

#endif
