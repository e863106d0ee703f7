// What is known of one object that a call was given or gave.
#ifndef INSPECTOR_VALUE_KIND_H
#define INSPECTOR_VALUE_KIND_H

#include "trace/values/call_values.h"

// What its own struct tells, as argument `number`.
void value_kind_read(PyObject *object /* borrowed */, uint8_t number, uint8_t inside, call_value *ret);
// Its blocks as an adapter tells them: the first in entry 0, further ones in the entries behind. How many.
int value_kind_ask(call_value *ret, int room);
// Both, of a result; `ret` has room for REPORTED_SPANS_MAX.
int value_kind_at(PyObject *object /* borrowed */, call_value *ret);

#endif
