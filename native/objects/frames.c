// The frames that run now, in every thread of the interpreter: what their local variables hold.
//
// A running function's variables live in the interpreter's own stack of frames, not in an object, so the gc
// does not know them. The frames are read in place, under the GIL, from each thread's newest to its oldest;
// no frame object is made (sys._getframe would make one, and keep it). Values on a frame's evaluation stack
// are read only where the frame says how many there are: it says so while it waits in a call of a Python
// function, and not while it runs C code; from 3.14 on it says so always. There the slots are tagged
// (module/compat.h): what a frame only borrows, another frame below it owns, and is not told.
//
// All that `look` receives is borrowed, and valid while the GIL is held.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "objects/objects.h"

// Where the frame stands among its thread's is kept as `ret` says it. 0 for a trampoline on the C stack,
// which has neither code nor variables.
static int view_frame(_PyInterpreterFrame *frame, frame_view *ret) {
    PyCodeObject *code = compat_frame_code(frame); // borrowed
    if (!code) {
        return 0;
    }
    int top = (int)compat_frame_top(frame);            // below 0 where it is not known
    PyObject *function = compat_frame_function(frame); // borrowed; None in the frame around an __init__
    *ret = (frame_view){
        .code = code,
        .function = function,
        .globals = function && PyFunction_Check(function) ? frame->f_globals : NULL, // else never written
        .locals = frame->f_locals,
        .frame_object = (PyObject *)frame->frame_obj,
        .slots = (PyObject **)frame->localsplus,
        .variables = code->co_nlocalsplus,
        .values = top > code->co_nlocalsplus ? top : code->co_nlocalsplus,
        .start = frame,
        .values_known = top >= 0,
        .last_byte = (int)(compat_frame_instruction(frame) - _PyCode_CODE(code)) * (int)sizeof(_Py_CODEUNIT),
        .thread = ret->thread,
        .depth = ret->depth,
        .calls_python = ret->calls_python,
    };
    return 1;
}

int frames_of_object(PyObject *object, frame_view *ret) {
    *ret = (frame_view){.code = NULL};
    if (PyFrame_Check(object)) {
        return view_frame(((PyFrameObject *)object)->f_frame, ret);
    }
    if (PyGen_CheckExact(object) || PyCoro_CheckExact(object) || PyAsyncGen_CheckExact(object)) {
        PyGenObject *generator = (PyGenObject *)object; // all three begin alike
        return generator->gi_frame_state < FRAME_CLEARED &&
               view_frame(compat_generator_frame(generator), ret);
    }
    return 0;
}

int frames_each(frame_look look, void *arg) {
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; thread; thread = PyThreadState_Next(thread)) {
        frame_view view = {.thread = thread->thread_id};
        for (_PyInterpreterFrame *frame = compat_thread_frame(thread); frame; frame = frame->previous) {
            int stop = view_frame(frame, &view) ? look(&view, arg) : 0;
            if (stop) {
                return stop;
            }
            // A frame entered from C, by a flag or by a trampoline, took nothing from its caller's stack.
            view.calls_python = compat_frame_code(frame) && !compat_frame_is_entry(frame);
            view.depth += compat_frame_code(frame) != NULL;
        }
    }
    return 0;
}

typedef struct {
    visitproc visit;
    void *arg;
    int is_whole; // fields of the frame too
} frame_visit;

static int visit_frame(const frame_view *view, void *argument) {
    const frame_visit *to = argument;
    visitproc visit = to->visit;
    void *arg = to->arg;
    if (to->is_whole) {
        Py_VISIT(view->function);
        Py_VISIT(view->code);
        Py_VISIT(view->locals);
        Py_VISIT(view->frame_object);
    }
    for (int i = 0; i < view->values; i++) {
        Py_VISIT(compat_slot(view->slots[i]));
    }
    return 0;
}

int frames_each_value(visitproc visit, void *arg) {
    return frames_each(visit_frame, &(frame_visit){visit, arg, 0});
}

int frames_each_reference(visitproc visit, void *arg) {
    return frames_each(visit_frame, &(frame_visit){visit, arg, 1});
}
