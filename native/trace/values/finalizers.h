// Destructors of capsules and finalizers of objects, as events.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_FINALIZE_H
#define INSPECTOR_FINALIZE_H

#include "module/native.h"

typedef void (*finalize_call)(PyObject *object);

// Calls the replaced function for an object that it may free, and records what ran and how long.
void finalize_enter(finalize_call original, PyObject *object /* borrowed */, int kind, uint32_t number);

#endif
