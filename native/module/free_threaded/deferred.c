// References to objects that are not all counted in them: functions, classes, code, modules, namespaces.
//
// A free-threaded CPython spares the counts that all threads would write. Their count begins far above what
// they have (_Py_REF_DEFERRED). Each thread counts references of instances, functions and frames to classes,
// code and namespaces in a table of its own. What a variable or the stack of a frame holds is not counted at
// all: its word is tagged. The collector adds it up while the world is stopped, and so does this.
// Source: Include/internal/pycore_object.h, pycore_uniqueid.h, Python/gc_free_threading.c.
//
// Nothing changes meanwhile (module/still.h); all pointers are borrowed.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "objects/objects.h"

#include <internal/pycore_tstate.h>
#include <internal/pycore_uniqueid.h>

static Py_ssize_t number_of(PyObject *object) {
    if (PyType_Check(object) && PyType_HasFeature((PyTypeObject *)object, Py_TPFLAGS_HEAPTYPE)) {
        return ((PyHeapTypeObject *)object)->unique_id;
    }
    if (PyCode_Check(object)) {
        return ((PyCodeObject *)object)->_co_unique_id;
    }
    return PyDict_Check(object) ? (Py_ssize_t)_PyDict_UniqueId((PyDictObject *)object)
                                : _Py_INVALID_UNIQUE_ID;
}

static Py_ssize_t of_threads(Py_ssize_t number) {
    Py_ssize_t found = 0;
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; thread && number > _Py_INVALID_UNIQUE_ID; thread = PyThreadState_Next(thread)) {
        const _PyThreadStateImpl *own = (_PyThreadStateImpl *)thread;
        found += number <= own->refcounts.size ? own->refcounts.values[number - 1] : 0;
    }
    return found;
}

Py_ssize_t deferred_references(PyObject *object) {
    if (!compat_is_deferred(object)) {
        return Py_REFCNT(object);
    }
    int is_deferred = (object->ob_gc_bits & _PyGC_BITS_DEFERRED) != 0;
    return Py_REFCNT(object) - (is_deferred ? _Py_REF_DEFERRED : 0) + of_threads(number_of(object));
}

typedef struct {
    visitproc visit;
    void *argument;
} uncounted;

static int visit_word(_PyStackRef word, const uncounted *to) {
    int is_tagged = (word.bits & 3) == Py_TAG_REFCNT && word.bits != Py_TAG_REFCNT;
    PyObject *object = (PyObject *)(word.bits & ~(uintptr_t)3); // borrowed
    return is_tagged && !_Py_IsImmortal(object) && compat_is_deferred(object)
               ? to->visit(object, to->argument)
               : 0;
}

// 1 also where the frame does not say how much of its stack it uses.
static int visit_frame(const _PyInterpreterFrame *frame, const uncounted *to) {
    if (frame->owner >= FRAME_OWNED_BY_INTERPRETER) {
        return 0;
    }
    int stop =
        !frame->stackpointer || visit_word(frame->f_executable, to) || visit_word(frame->f_funcobj, to);
    for (const _PyStackRef *at = frame->localsplus; !stop && at < frame->stackpointer; at++) {
        stop = visit_word(*at, to);
    }
    return stop;
}

static int visit_object(PyObject *object, void *argument) {
    if (PyFrame_Check(object)) {
        return visit_frame(((PyFrameObject *)object)->f_frame, argument);
    }
    if (!PyGen_CheckExact(object) && !PyCoro_CheckExact(object) && !PyAsyncGen_CheckExact(object)) {
        return 0;
    }
    const PyGenObject *generator = (PyGenObject *)object;
    int has_frame = generator->gi_frame_state < FRAME_CLEARED;
    return has_frame && visit_frame(compat_generator_frame(generator), argument);
}

static int visit_thread(PyThreadState *thread, const uncounted *to) {
    const struct _PyCStackRef *held = ((_PyThreadStateImpl *)thread)->c_stack_refs;
    int stop = 0;
    for (; held && !stop; held = held->next) {
        stop = visit_word(held->ref, to);
    }
    for (_PyInterpreterFrame *at = thread->current_frame; at && !stop; at = at->previous) {
        stop = visit_frame(at, to);
    }
    return stop;
}

int deferred_each_uncounted(visitproc visit, void *argument) {
    uncounted to = {visit, argument};
    int stop = 0;
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; thread && !stop; thread = PyThreadState_Next(thread)) {
        stop = visit_thread(thread, &to);
    }
    return stop ? stop : edges_each_tracked(visit_object, &to);
}
