// What every part includes: the module's state, and the exec function of each part.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_NATIVE_H
#define INSPECTOR_NATIVE_H

// A part that reads CPython's internal structures defines this before it includes module/native.h
// (module/compat.h).
#ifdef INSPECTOR_INTERNALS
#define Py_BUILD_CORE 1
#define Py_BUILD_CORE_MODULE 1
#endif
// A part that takes the addresses of C-API functions defines this: up to 3.12 PY_SSIZE_T_CLEAN renames some.
#ifndef INSPECTOR_PLAIN_NAMES
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module/arena.h"
#include "module/cleanup.h"
#include "module/clock.h"
#include "module/compat.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
// Of a function that reads memory which AddressSanitizer did not see being allocated.
#define UNSANITIZED __attribute__((no_sanitize("address")))

typedef struct {
    PyTypeObject *subject_type;      // owned
    PyTypeObject *lazy_vector_type;  // owned
    PyTypeObject *lazy_storage_type; // owned
    PyTypeObject
        *lazy_class; // owned: inspector.lazy.Vector, the class that recipes make; NULL before its import
} native_state;

native_state *native_get_state(PyObject *module /* borrowed */);
// The module state of one of our types or a subclass of it; NULL with TypeError set for any other type.
native_state *native_type_state(PyTypeObject *type /* borrowed */);

// Adds to the module a tuple of names, indexed by the numbers of an enum. 0, or -1 with an exception set.
int names_add(PyObject *module /* borrowed */, const char *attribute, const char *const *names, int count);

// Appends to a list: 0, or -1 with an exception set; the list or the item may be NULL because making it
// failed.
int list_add(PyObject *list /* borrowed */, PyObject *item /* stolen */);
// The same for an item of a new tuple.
int tuple_set(PyObject *tuple /* borrowed */, Py_ssize_t index, PyObject *item /* stolen */);
// Sets an exception, as PyErr_Format and PyErr_NoMemory do. -1.
int error_set(PyObject *type /* borrowed */, const char *format, ...);
int error_no_memory(void);

// The parts: each is one C file with a function `<part>_exec`, which adds its functions and types to the
// module and returns 0, or -1 with an exception set.
#ifdef Py_GIL_DISABLED
#define INSPECTOR_MODULE _free_threaded
#define INSPECTOR_PARTS(PART) \
    PART(subject) \
    PART(memory) \
    PART(symbols) \
    PART(buffer) \
    PART(protocols) \
    PART(kinds) \
    PART(attributes) \
    PART(frames) \
    PART(mappings) \
    PART(residency) \
    PART(walk_progress) \
    PART(census) \
    PART(retained) \
    PART(reached) \
    PART(chain) \
    PART(account) \
    PART(tried)
#else
#define INSPECTOR_MODULE _native
#define INSPECTOR_PARTS(PART) \
    PART(build) \
    PART(subject) \
    PART(call) \
    PART(census) \
    PART(tracked) \
    PART(account) \
    PART(names) \
    PART(retained) \
    PART(reached) \
    PART(chain) \
    PART(walk_progress) \
    PART(memory) \
    PART(scan) \
    PART(owners) \
    PART(quick_referrers) \
    PART(kept_words) \
    PART(bandwidth) \
    PART(tried) \
    PART(preview) \
    PART(layout) \
    PART(symbols) \
    PART(buffer) \
    PART(protocols) \
    PART(kinds) \
    PART(attributes) \
    PART(mappings) \
    PART(residency) \
    PART(locals) \
    PART(types) \
    PART(functions) \
    PART(lazy_vector) \
    PART(ring_read) \
    PART(interned) \
    PART(sites) \
    PART(stacks) \
    PART(lines) \
    PART(journal) \
    PART(reported_spans) \
    PART(calls) \
    PART(losses) \
    PART(stores) \
    PART(targets) \
    PART(methods) \
    PART(type_slots) \
    PART(foreign) \
    PART(capi) \
    PART(got) \
    PART(got_rows) \
    PART(hosts) \
    PART(conversions) \
    PART(numpy_table) \
    PART(loaded) \
    PART(allocations) \
    PART(sources) \
    PART(hooks) \
    PART(arming) \
    PART(ledger) \
    PART(ledger_views) \
    PART(raw_memory) \
    PART(raw_memory_search) \
    PART(raw_memory_disguised) \
    PART(unexplained) \
    PART(charges) \
    PART(instances) \
    PART(unhooked) \
    PART(lost) \
    PART(growth) \
    PART(growth_read) \
    PART(exits) \
    PART(traps) \
    PART(remote) \
    PART(remote_call) \
    PART(remote_objects) \
    PART(hardware_breakpoints) \
    PART(writes) \
    PART(writes_pages) \
    PART(docs)
#endif

// Adds functions to the module, by rows of a PyMethodDef; and the exec function of a part that does no more.
#define ADD_FUNCTIONS(module, ...) \
    __extension__({ \
        static PyMethodDef functions[] = {__VA_ARGS__, {NULL, NULL, 0, NULL}}; \
        PyModule_AddFunctions(module, functions); \
    })
#define PART_FUNCTIONS(name, ...) \
    int name##_exec(PyObject *module) { return ADD_FUNCTIONS(module, __VA_ARGS__); }

#define DECLARE_PART(name) int name##_exec(PyObject *module /* borrowed */);
INSPECTOR_PARTS(DECLARE_PART)

// module/text.c: short printable text in a buffer on the stack; `limit` is at most TEXT_MAX_CHARS.
enum { TEXT_MAX_CHARS = 200 };

typedef struct {
    Py_UCS4 characters[TEXT_MAX_CHARS];
    int limit, length;
    int safe;        // length up to the last place where the text may be cut
    int full;        // something did not fit
    Py_UCS4 closing; // put after the "…" of a cut text; 0 for none
} text;

void text_put(text *into, Py_UCS4 character);
void text_put_ascii(text *into, const char *ascii);
// Printable characters as they are, others escaped as in Python; `quote` and backslash get a backslash.
void text_put_escaped(text *into, Py_UCS4 character, Py_UCS4 quote /* 0: none is escaped */);
// Marks the current length as a place where the text may be cut.
void text_may_cut(text *into);
// A new str of the text, which must not be used afterwards.
PyObject *text_finish(text *from);
// The same text with everything escaped that a terminal would act upon. New str.
PyObject *text_visible(PyObject *original /* borrowed */, Py_ssize_t limit);
// The same of a C string: UTF-8 with invalid bytes replaced, "" for NULL. New str.
PyObject *text_from_c(const char *original, Py_ssize_t limit);

#endif
