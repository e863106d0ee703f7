// The live objects of chosen types.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CENSUS_H
#define INSPECTOR_CENSUS_H

#include "module/native.h"

// heap/census.c: the live objects of each type named in `wanted`, borrowed, valid until something runs;
// `ours` are types left out. The caller has switched the gc off. 0, or -1 with an exception set.
int census_collect(PyObject *ours /* borrowed */, PyObject *wanted /* borrowed */, arena_stack *found);

#endif
