// Scope guards: what a block acquires is released on every way out of the block (an idea of drgn's).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CLEANUP_H
#define INSPECTOR_CLEANUP_H

#include <Python.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_decref(PyObject **reference) { Py_XDECREF(*reference); }
static inline void cleanup_free(void *pointer) { free(*(void **)pointer); }
static inline void cleanup_buffer(Py_buffer *buffer) { PyBuffer_Release(buffer); }
static inline void cleanup_close(int *descriptor) {
    if (*descriptor >= 0) {
        close(*descriptor);
    }
}

static inline void cleanup_collector(const int *was_on) {
    if (*was_on) {
        PyGC_Enable();
    }
}

#define _owned_ __attribute__((cleanup(cleanup_decref)))
#define _free_ __attribute__((cleanup(cleanup_free)))
#define _buffer_ __attribute__((cleanup(cleanup_buffer)))
#define _close_ __attribute__((cleanup(cleanup_close)))
// Off until the end of the block: `_collector_ int was_on = PyGC_Disable();`
#define _collector_ __attribute__((cleanup(cleanup_collector), unused))

// Moves an owned reference or pointer out of its guard: the caller owns it from then on.
#define take(variable) \
    __extension__({ \
        __typeof__(variable) taken_ = (variable); \
        (variable) = NULL; \
        taken_; \
    })

#endif
