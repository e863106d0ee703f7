// When a result means failure: column `fails` of capi.def. Calls PyErr_Occurred only for ambiguous results.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CAPI_FAILURES_H
#define INSPECTOR_CAPI_FAILURES_H

#include <Python.h>

#define FAILS_NEVER(result) ((void)(result), 0)
#define FAILS_NULL_SET(result) ((result) == NULL)
#define FAILS_NULL_QUIET(result) ((result) == NULL)
#define FAILS_NULL_ASK(result) ((result) == NULL && PyErr_Occurred() != NULL)
#define FAILS_MINUS_SET(result) ((result) == -1)
#define FAILS_MINUS_ASK(result) \
    (__builtin_expect((result) == (__typeof__(result))-1, 0) && PyErr_Occurred() != NULL)
#define FAILS_ZERO_SET(result) ((result) == 0)
#define FAILS_UCS4_ASK(result) ((result) == (Py_UCS4) - 1 && PyErr_Occurred() != NULL)
#define FAILS_COMPLEX_ASK(result) ((result).real == -1.0 && PyErr_Occurred() != NULL)

#endif
