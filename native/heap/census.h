// The live objects: of chosen types, or each once.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CENSUS_H
#define INSPECTOR_CENSUS_H

#include "module/interrupt.h"
#include "objects/objects.h"

// heap/census.c: the live objects of each type named in `wanted`, borrowed, valid until something runs;
// `ours` are types left out. Nothing changes meanwhile (module/still.h). 0, or -1 without an exception: `ret`
// says why.
int census_collect(PyObject *ours /* borrowed */, PyObject *wanted /* borrowed */, arena_stack *found,
                   interrupt_watch *ret);

// Calls `look` for every live object, once; -1 from it ends the walk. As above.
typedef int (*census_look)(PyObject *object /* borrowed */, const own_bytes_rule *rule, void *argument);
int census_each(PyObject *ours /* borrowed */, census_look look, void *argument, interrupt_watch *ret);

#endif
