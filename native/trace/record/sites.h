// The Python line that a call is made from.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_SITES_H
#define INSPECTOR_SITES_H

#include "trace/record/event.h"

#ifdef INSPECTOR_INTERNALS
#include "module/native.h"
#include "trace/record/interned.h"

// The user's code that ran last; the table of interned objects owns it.
typedef struct {
    PyCodeObject *code; // borrowed, valid while `generation` equals the table's
    uint32_t id, generation;
} sites_known;
extern sites_known sites_last __attribute__((visibility("hidden")));

typedef struct {
    uint32_t code; // id in INTERNED; 0: not known
    int32_t lasti;
} sites_place;
sites_place sites_find(_PyInterpreterFrame *frame);
// Whether code is the user's own: not of an installed package or the standard library.
int sites_is_users(PyCodeObject *code /* borrowed */);

static inline int32_t sites_offset(const _PyInterpreterFrame *frame, PyCodeObject *code /* borrowed */) {
    return (int32_t)(compat_frame_instruction(frame) - _PyCode_CODE(code)) * (int)sizeof(_Py_CODEUNIT);
}

// The place that sites_locate writes, for the running thread.
static inline sites_place sites_of(PyThreadState *thread /* borrowed */) {
    _PyInterpreterFrame *frame = compat_thread_frame(thread);
    PyCodeObject *code = frame ? compat_frame_code(frame) : NULL; // borrowed
    if (__builtin_expect(code && code == sites_last.code, 1) &&
        sites_last.generation == interned_generation) {
        return (sites_place){sites_last.id, sites_offset(frame, code)};
    }
    return sites_find(frame);
}
#endif

// Writes code and lasti of the user's current line. Needs the GIL.
void sites_locate(event *record);
// Whether the running Python function belongs to the standard library. Needs the GIL.
int sites_is_of_stdlib(void);
// Releases the known file names. Needs the GIL.
void sites_forget(void);

#endif
