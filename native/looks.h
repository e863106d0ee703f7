// What is known of one object that a call was given or gave.
#ifndef INSPECTOR_LOOKS_H
#define INSPECTOR_LOOKS_H

#include "witness.h"

// What its own struct tells, as argument `number`.
void looks_read(PyObject *object /* borrowed */, uint8_t number, uint8_t inside, witnessed *ret);
// Its blocks as an adapter tells them: the first in entry 0, further ones in the entries behind. How many.
int looks_ask(witnessed *ret, int room);
// Both, of a result; `ret` has room for ASKED_SPANS_MAX.
int looks_at(PyObject *object /* borrowed */, witnessed *ret);

#endif
