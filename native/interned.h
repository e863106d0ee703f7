// Small numbers for types and code objects, so that a 64-byte record can name them.
#ifndef INSPECTOR_INTERNED_H
#define INSPECTOR_INTERNED_H

#include "native.h"

// The number of `object`, the same for the whole trace; 0 where the table is full. Holds the object by one
// reference until the trace is over, so that its name can be read then. Needs the GIL; allocates nothing.
uint32_t interned_id(PyObject *object /* borrowed: kept */);

#endif
