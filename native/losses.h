// Elements that a conversion did not keep, told by the source and the result side by side.
#ifndef INSPECTOR_LOSSES_H
#define INSPECTOR_LOSSES_H

#include "witness.h"

// Writes a LOSS continuation for each argument and rule by which `made` does not hold the argument's
// elements.
void losses_write(const witnessed *made, const witness *seen, uint16_t depth);

#endif
