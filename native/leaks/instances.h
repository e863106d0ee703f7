// Instances of watched types that die while the ledger is open.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_INSTANCES_H
#define INSPECTOR_INSTANCES_H

#include "module/native.h"

void instances_freed(uintptr_t block);  // a block of Python's object allocator is about to be freed
void instances_alive(uintptr_t object); // the address is that of an object that lives
int instances_died(PyTypeObject *type /* borrowed */); // whether one of a watched type did
// When the ledger is closed: notes what deaths left behind. Types: before references are counted.
void instances_judge_types(void);
void instances_judge_fields(void);
void instances_forget(void);

#endif
