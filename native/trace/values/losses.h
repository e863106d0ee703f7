// Elements that a conversion lost, found by comparing source and result.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LOSSES_H
#define INSPECTOR_LOSSES_H

#include "trace/values/call_values.h"

// Writes a LOSS continuation for each argument and rule where `made` does not hold the argument's elements.
void losses_write(const call_value *made, const call_values *seen, uint16_t depth);

// The same for one number or text that a C-API function converted: `value` has `bytes` bytes and is what C
// got of `object`. kind: u unchecked unsigned, f float, t text that ends at its first NUL. Allocates nothing.
void losses_scalar(PyObject *object /* borrowed */, const void *value, uint32_t bytes, char kind,
                   uint32_t argument, uint16_t depth);

#endif
