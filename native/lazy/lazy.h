// Public: a lazy vector written in C (or cffi) is this struct, passed to inspector.lazy.wrap().
//
// Fill in a provider, keep it alive until `release` is called, and pass its address to Python: an int, a cffi
// pointer, or a PyCapsule named INSPECTOR_LAZY_CAPSULE. inspector.lazy.check_lazy() tests the contract:
//   * elements never change while the provider lives, and no call here materializes anything;
//   * `elt` writes element i (0 <= i < length) to `out`, and returns 0;
//   * `get_region` writes elements i .. i+n-1 to `out` and returns how many it wrote: min(n, length - i). It
//     is called for blocks of at most 128 KB; `out` is invalid after it returns;
//   * one of `elt` and `get_region` may be NULL; every other pointer may be NULL;
//   * -1 is failure: the vector stays lazy and may call again. A Python exception that is set is passed on.
//
// Calls hold the GIL, unless INSPECTOR_LAZY_NOGIL says that the functions need no Python and are thread-safe.
// This header does not include Python.h: any language with a C interface can provide a vector.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LAZY_H
#define INSPECTOR_LAZY_H

#include <stdint.h>

#define INSPECTOR_LAZY_ABI 1
#define INSPECTOR_LAZY_CAPSULE "inspector.lazy.provider"
#define INSPECTOR_LAZY_NOGIL 1u // flag: functions need no GIL and are thread-safe

typedef struct inspector_lazy_provider {
    uint32_t abi;       // INSPECTOR_LAZY_ABI
    uint32_t flags;     // 0, or INSPECTOR_LAZY_NOGIL
    const char *name;   // displayed as lazy(name)
    const char *format; // one PEP 3118 code: ? b B h H i I q Q f d (native size and byte order)
    int64_t length;     // elements
    void *context;      // owned by the provider: first argument of each function

    int (*elt)(void *context, int64_t i, void *out);
    int64_t (*get_region)(void *context, int64_t i, int64_t n, void *out);

    // The address of all elements if they exist in memory already, else NULL. Must not compute them.
    const void *(*dataptr_or_null)(void *context);

    // Results without reading elements: 1 known, 0 unknown, -1 failed. `out` of sum is a double, int64_t or
    // uint64_t (floats; signed and bool; unsigned), of min and max an element, of the others 0 or 1.
    int (*sum)(void *context, void *out);
    int (*min)(void *context, void *out);
    int (*max)(void *context, void *out);
    int (*is_sorted)(void *context, int *out);
    int (*no_na)(void *context, int *out);

    // The vector was freed: no more calls follow. Called with the GIL held.
    void (*release)(struct inspector_lazy_provider *self);
} inspector_lazy_provider;

#endif
