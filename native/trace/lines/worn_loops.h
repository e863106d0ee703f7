// What ends a pause of the line events: a `for` loop that has been looked at often enough (3.11 only).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_WORN_LOOPS_H
#define INSPECTOR_WORN_LOOPS_H

#include "module/native.h"

#if COMPAT_LINES_BY_TRACE
// Prepares the type of worn loops; `resume` is called where such a loop ends. -1 with an error set.
int worn_loops_prepare(void (*resume)(void));
// Whether the frame goes on in a `for` loop whose end will be told. Never with an error set.
int worn_loops_begin(_PyInterpreterFrame *frame /* borrowed */);
#endif

#endif
