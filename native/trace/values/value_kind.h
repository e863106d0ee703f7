// The kind of one object among a call's arguments and results.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_VALUE_KIND_H
#define INSPECTOR_VALUE_KIND_H

#include "trace/values/call_values.h"

// Reads the object's own struct, as argument `number`.
void value_kind_read(PyObject *object /* borrowed */, uint8_t number, uint8_t inside, call_value *ret);
// Adds the blocks that an adapter reports: the first in entry 0, further ones after it. Returns their number.
int value_kind_report(call_value *ret, int room);
// Both, for a result; `ret` has room for REPORTED_SPANS_MAX.
int value_kind_at(PyObject *object /* borrowed */, call_value *ret);

#endif
