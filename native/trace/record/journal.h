// A file of what the numbers of a trace mean, written as they are assigned: it outlives a killed process.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_JOURNAL_H
#define INSPECTOR_JOURNAL_H

#include "module/native.h"

// Writes the name of a type or code object, where a journal is kept. Needs the GIL; allocates nothing.
void journal_add(uint32_t id, PyObject *object /* borrowed */);

#endif
