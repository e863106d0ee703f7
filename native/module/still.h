// Nothing changes while a walk holds borrowed pointers.
//
// With the GIL no other thread of Python runs, and the collector is switched off. Without it CPython stops
// them as for its own collector: each stands between two bytecodes, or is outside of Python and does not come
// back. Until the end of the block the walk runs no code of Python and waits for no lock: who holds one may
// be stopped.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_STILL_H
#define INSPECTOR_STILL_H

#include <Python.h>

#ifdef Py_GIL_DISABLED
PyAPI_FUNC(void) _PyEval_StopTheWorld(PyInterpreterState *interpreter); // internal/pycore_pystate.h
PyAPI_FUNC(void) _PyEval_StartTheWorld(PyInterpreterState *interpreter);

static inline int still_begin(void) {
    _PyEval_StopTheWorld(PyInterpreterState_Get());
    return 1;
}

static inline void still_end(const int *began) {
    if (*began) {
        _PyEval_StartTheWorld(PyInterpreterState_Get());
    }
}
#else
static inline int still_begin(void) { return PyGC_Disable(); }

static inline void still_end(const int *was_on) {
    if (*was_on) {
        PyGC_Enable();
    }
}
#endif

// Until the end of the block: `_still_ int began = still_begin();`
#define _still_ __attribute__((cleanup(still_end), unused))

#endif
