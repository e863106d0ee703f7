// A file of what the numbers of a trace mean, written as they are given: what is left of a dead process.
#ifndef INSPECTOR_JOURNAL_H
#define INSPECTOR_JOURNAL_H

#include "module/native.h"

// Writes what `object`, a type or a code object, is called. Nothing where no journal is kept. Needs the GIL;
// allocates nothing.
void journal_add(uint32_t id, PyObject *object /* borrowed */);

#endif
