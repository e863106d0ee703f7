// ndarray.resize in code whose lines are told (3.11 only): it counts the references to its array.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_TRACED_RESIZE_H
#define INSPECTOR_TRACED_RESIZE_H

#include "module/native.h"

#if COMPAT_LINES_BY_TRACE
// Put a function of ours before NumPy's, once NumPy is imported. Never with an error set.
void traced_resize_begin(void);
// NumPy's own again, unless others have replaced it since: then ours passes calls on.
void traced_resize_end(void);
#endif

#endif
