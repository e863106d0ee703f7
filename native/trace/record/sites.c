// The user's line that a call is made from: the innermost frame that is not of an installed library.
//
// Every traced call walks the stack, sixty library frames in a server's worker. A code object's origin
// follows from its file name. Each name is searched once, as all code of a file shares one string object. A
// reference to each name is owned until the trace is over, so that its address cannot come to mean another
// name. Needs the GIL; allocates nothing.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "trace/record/sites.h"

#include <limits.h>

enum { FRAMES_WALKED = 512 }; // an import of torch is 300 frames deep
enum { NAMES_HASHED = 1 << 13, NAMES_MAX = NAMES_HASHED / 2 };

typedef enum { FROM_USER, FROM_PACKAGE, FROM_STDLIB } origin;

typedef struct {
    PyObject *file; // owned
    origin from;
} known_name;

static known_name known[NAMES_HASHED];
static int known_count;

// The folder that the tool's own package lies in, "/" at its end; "" if unknown.
static char own_parent[PATH_MAX];

// Whether a file is the tool's: in an editable install it lies in a checkout, not in site-packages.
static int is_own(const char *path) {
    size_t length = strlen(own_parent);
    return length && strncmp(path, own_parent, length) == 0 &&
           (strncmp(path + length, "inspector/", 10) == 0 || strncmp(path + length, "magics/", 7) == 0);
}

int sites_exec(PyObject *module) {
    (void)module;
    PyObject *package = PyDict_GetItemString(PyImport_GetModuleDict(), "inspector"); // borrowed
    _owned_ PyObject *file = package ? PyObject_GetAttrString(package, "__file__") : NULL;
    const char *path = file && PyUnicode_Check(file) ? PyUnicode_AsUTF8(file) : NULL;
    size_t length = path ? strlen(path) : 0, tail = strlen("inspector/__init__.py");
    if (length > tail && length - tail < sizeof own_parent) {
        memcpy(own_parent, path, length - tail);
    }
    PyErr_Clear();
    return 0;
}

static origin origin_by_name(PyObject *file) {
    if (!PyUnicode_IS_COMPACT_ASCII(file)) {
        return FROM_USER;
    }
    const char *path = PyUnicode_DATA(file);
    if (*path == '<') {
        return strncmp(path, "<frozen", 7) == 0                ? FROM_STDLIB
               : strncmp(path, "<__array_function__", 19) == 0 ? FROM_PACKAGE
                                                               : FROM_USER;
    }
    return is_own(path) || strstr(path, "-packages/") || strstr(path, "/reticulate/python/") ? FROM_PACKAGE
           : strstr(path, "/lib/python3")                                                    ? FROM_STDLIB
                                                                                             : FROM_USER;
}

static inline origin origin_of(PyCodeObject *code) {
    PyObject *file = code->co_filename; // borrowed
    size_t at = ((uintptr_t)file >> 4) * 0x9E3779B97F4A7C15ULL >> 51;
    for (; known[at].file; at = (at + 1) % NAMES_HASHED) {
        if (known[at].file == file) {
            return known[at].from;
        }
    }
    origin from = origin_by_name(file);
    if (known_count < NAMES_MAX) {
        known[at] = (known_name){Py_NewRef(file), from};
        known_count++;
    }
    return from;
}

int sites_is_users(PyCodeObject *code) { return origin_of(code) == FROM_USER; }

int sites_is_of_stdlib(void) {
    _PyInterpreterFrame *frame = compat_thread_frame(PyThreadState_Get());
    while (frame && !compat_frame_code(frame)) {
        frame = frame->previous;
    }
    return frame && origin_of(compat_frame_code(frame)) == FROM_STDLIB;
}

sites_known sites_last;

// The innermost frame of the user's own code, or the innermost of all where there is none.
sites_place sites_find(_PyInterpreterFrame *frame) {
    _PyInterpreterFrame *chosen = NULL;
    origin from = FROM_STDLIB;
    for (int walked = 0; frame && from != FROM_USER && walked < FRAMES_WALKED;
         frame = frame->previous, walked++) {
        PyCodeObject *code = compat_frame_code(frame);
        from = code ? origin_of(code) : FROM_STDLIB;
        if (code && (from == FROM_USER || !chosen)) {
            chosen = frame;
        }
    }
    if (!chosen) {
        return (sites_place){0, 0};
    }
    PyCodeObject *code = compat_frame_code(chosen); // borrowed
    uint32_t id = interned_id((PyObject *)code);
    sites_last = (sites_known){from == FROM_USER && id ? code : NULL, id, interned_generation};
    return (sites_place){id, sites_offset(chosen, code)};
}

void sites_locate(event *record) {
    sites_place place = sites_of(PyThreadState_Get());
    record->code = place.code;
    record->lasti = place.lasti;
}

void sites_forget(void) {
    for (int at = 0; known_count && at < NAMES_HASHED; at++) {
        Py_CLEAR(known[at].file); // a string: frees without running code
    }
    known_count = 0;
}
