// Which lines of the user's own code run; code of libraries runs untouched.
//
// From 3.12 on sys.monitoring tells the lines of one code object. 3.11 has only the trace function, which
// slows every frame of the thread down: there `lines_frame` evaluates each frame (PEP 523) and switches the
// trace function on for frames of the user's code and off for all others. It is set for the thread that
// opens it; in a `for` loop whose lines need no more events it is off until the loop ends
// (trace/lines/worn_loops.c). The callback is called with ("call" | "line" | "return", frame, value or
// None); where it returns True it is not called again for that line, or after "call" for that code.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "trace/lines/worn_loops.h"
#include "trace/record/ring.h"
#include "trace/record/sites.h"
#include "trace/record/traced_resize.h"

#include <signal.h>

// SIGINT while a callback runs: KeyboardInterrupt must come neither in our code nor where a `with` block ends
// and its `__exit__` is not yet called. So it is held, and tripped again when the callback has returned.
static int lines_running, lines_held;

static PyObject *lines_called(PyObject *callable, PyObject *const *args, Py_ssize_t count) { // new
    lines_running++;
    uint16_t left = ring_quiet();
    PyObject *result = PyObject_Vectorcall(callable, args, (size_t)count, NULL);
    ring_loud(left);
    lines_running--;
    if (!lines_running && lines_held) {
        lines_held = 0;
        PyErr_SetInterruptEx(SIGINT);
    }
    return result;
}

static PyObject *lines_call(PyObject *module /* borrowed */, PyObject *const *args, Py_ssize_t count) {
    return count ? lines_called(args[0], args + 1, count - 1)
                 : PyErr_Format(PyExc_TypeError, "lines_call() takes a callable");
}

static PyObject *lines_hold(PyObject *module /* borrowed */, PyObject *came_before /* borrowed */) {
    lines_held = came_before != Py_None && (lines_held || lines_running || came_before == Py_True);
    return PyBool_FromLong(lines_running);
}

#if COMPAT_LINES_BY_TRACE

static PyThreadState *lines_thread; // NULL: closed
static PyObject *lines_callback;    // owned

// Lines, and code as a whole, of which the callback wants no more events.
enum { DONE_HASHED = 1 << 12, DONE_MAX = DONE_HASHED / 2, WHOLE = -1 /* line: all of the code */ };
static struct {
    PyObject *code; // owned, so that its address stays its own
    int line;
} lines_done[DONE_HASHED];
static int lines_done_count;

static size_t lines_slot(PyObject *code /* borrowed */, int line) {
    size_t at = (((uintptr_t)code >> 4) + (size_t)line * 0x9E3779B9) % DONE_HASHED;
    while (lines_done[at].code && (lines_done[at].code != code || lines_done[at].line != line)) {
        at = (at + 1) % DONE_HASHED;
    }
    return at;
}

static void lines_note_done(PyObject *code /* borrowed */, int line) {
    size_t at = lines_slot(code, line);
    if (!lines_done[at].code && lines_done_count < DONE_MAX) {
        lines_done[at].code = Py_NewRef(code);
        lines_done[at].line = line;
        lines_done_count++;
    }
}

static void lines_forget_done(void) {
    for (size_t at = 0; lines_done_count && at < DONE_HASHED; at++) {
        Py_CLEAR(lines_done[at].code);
    }
    lines_done_count = 0;
}

static int lines_event(PyObject *self, PyFrameObject *frame, int what, PyObject *value);

// Whether no other tool has set a trace function for the thread.
static int lines_are_ours(const PyThreadState *thread /* borrowed */) {
    return thread == lines_thread && (!thread->c_tracefunc || thread->c_tracefunc == lines_event);
}

// For the running frame. CPython reports an exception to a function that is set, also where it is off, and
// then switches it on; so there is none where it is off.
static void lines_switch(PyThreadState *thread /* borrowed */, int on) {
    thread->c_tracefunc = on ? lines_event : NULL;
    thread->cframe->use_tracing = on ? 255 : 0;
}

static void lines_resume(void) {
    PyThreadState *thread = PyThreadState_Get();
    if (lines_are_ours(thread) && !thread->tracing) {
        lines_switch(thread, 1);
    }
}

static PyObject *lines_frame(PyThreadState *thread, _PyInterpreterFrame *frame, int throwing) {
    if (!lines_are_ours(thread) || thread->tracing) {
        return _PyEval_EvalFrameDefault(thread, frame, throwing);
    }
    int before = thread->cframe->use_tracing != 0;
    PyObject *code = (PyObject *)frame->f_code; // borrowed
    lines_switch(thread, sites_is_users(frame->f_code) && !lines_done[lines_slot(code, WHOLE)].code);
    PyObject *result = _PyEval_EvalFrameDefault(thread, frame, throwing); // new
    if (lines_are_ours(thread)) {
        lines_switch(thread, before);
    }
    return result;
}

static int lines_event(PyObject *self /* borrowed */, PyFrameObject *frame /* borrowed */, int what,
                       PyObject *value /* borrowed, or NULL */) {
    const char *name = what == PyTrace_CALL ? "call" : what == PyTrace_LINE ? "line" : "return";
    if (!lines_callback || what == PyTrace_EXCEPTION || what == PyTrace_OPCODE ||
        !sites_is_users(frame->f_frame->f_code)) {
        return 0;
    }
    PyObject *code = (PyObject *)frame->f_frame->f_code; // borrowed
    int line = what == PyTrace_LINE ? PyFrame_GetLineNumber(frame) : WHOLE;
    if (lines_done[lines_slot(code, line)].code || lines_done[lines_slot(code, WHOLE)].code) {
        if (what == PyTrace_LINE && worn_loops_begin(frame->f_frame)) {
            lines_thread->c_tracefunc = NULL; // so CPython switches it off for this frame when this returns
        }
        return 0;
    }
    PyObject *type, *error, *trace; // owned
    PyErr_Fetch(&type, &error, &trace);
    traced_resize_begin();
    PyObject *callback = Py_NewRef(lines_callback);
    PyObject *word = PyUnicode_InternFromString(name); // new
    PyObject *args[] = {word, (PyObject *)frame, value ? value : Py_None};
    PyObject *done = word ? lines_called(callback, args, 3) : NULL; // new
    Py_XDECREF(word);
    Py_DECREF(callback);
    if (!done) { // a signal's handler raised: the user's code gets it
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
        return -1;
    }
    if (done == Py_True) {
        lines_note_done(code, line);
    }
    Py_DECREF(done);
    PyErr_Restore(type, error, trace);
    return 0;
}

static int lines_begin(PyObject *callback /* borrowed */) {
    PyThreadState *thread = PyThreadState_Get();
    if (lines_thread || thread->c_tracefunc || thread->c_profilefunc ||
        _PyInterpreterState_GetEvalFrameFunc(thread->interp) != _PyEval_EvalFrameDefault ||
        worn_loops_prepare(lines_resume) < 0) {
        return 0;
    }
    lines_callback = Py_NewRef(callback);
    lines_thread = thread;
    _PyInterpreterState_SetEvalFrameFunc(thread->interp, lines_frame);
    PyEval_SetTrace(lines_event, NULL);
    return 1;
}

static void lines_end(void) {
    PyThreadState *thread = lines_thread;
    if (!thread) {
        return;
    }
    int ours = lines_are_ours(thread);
    lines_thread = NULL;
    traced_resize_end();
    if (_PyInterpreterState_GetEvalFrameFunc(thread->interp) == lines_frame) {
        _PyInterpreterState_SetEvalFrameFunc(thread->interp, _PyEval_EvalFrameDefault);
    }
    if (ours) {
        thread->c_tracefunc = NULL;
        for (_PyCFrame *frame = thread->cframe; frame; frame = frame->previous) {
            frame->use_tracing = 0;
        }
    }
    Py_CLEAR(lines_callback);
    lines_forget_done();
}
#else

static int lines_begin(PyObject *callback /* borrowed */) { return 0; }
static void lines_end(void) {}
#endif

static PyObject *lines_open(PyObject *module /* borrowed */, PyObject *callback /* borrowed */) {
    return PyBool_FromLong(lines_begin(callback));
}

static PyObject *lines_close(PyObject *module /* borrowed */, PyObject *none /* borrowed */) {
    lines_end();
    Py_RETURN_NONE;
}

PART_FUNCTIONS(lines, {"lines_open", lines_open, METH_O, NULL},
               {"lines_close", lines_close, METH_NOARGS, NULL}, {"lines_hold", lines_hold, METH_O, NULL},
               {"lines_call", (PyCFunction)(void (*)(void))lines_call, METH_FASTCALL, NULL})
