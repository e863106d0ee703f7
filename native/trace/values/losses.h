// Elements that a conversion did not keep, told by the source and the result side by side.
#ifndef INSPECTOR_LOSSES_H
#define INSPECTOR_LOSSES_H

#include "trace/values/call_values.h"

// Writes a LOSS continuation for each argument and rule by which `made` does not hold the argument's
// elements.
void losses_write(const call_value *made, const call_values *seen, uint16_t depth);

// The same for one number or text that a C-API function converted: `value`, of so many bytes, is what C got
// of `object`. kind: u without overflow check, f, t where it ends at its first NUL. Allocates nothing.
void losses_scalar(PyObject *object /* borrowed */, const void *value, uint32_t bytes, char kind,
                   uint32_t argument, uint16_t depth);

#endif
