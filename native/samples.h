// Whether a result holds an argument's values, by a few of its elements.
#ifndef INSPECTOR_SAMPLES_H
#define INSPECTOR_SAMPLES_H

#include "witness.h"

enum { SAMPLES_COMPARED = 1u << 31, SAMPLES_UNEQUAL = 1u << 30 };

// Bit i: the sampled elements of the result equal argument number i's. SAMPLES_COMPARED where any could be
// compared, SAMPLES_UNEQUAL where one was found different.
uint32_t samples_compare(const witnessed *result, const witness *seen);

#endif
