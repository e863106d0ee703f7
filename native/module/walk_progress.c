// How far a walk over the heap is, said on a terminal by the walk itself.
//
// A census, a chain and a retained size hold borrowed pointers from their first object to their last, so no
// Python code may run in between, and no other thread: nobody else could say it. A walk asks for signals
// every few milliseconds, and there it writes one line, over the last one, to a file descriptor that the
// caller named. Overlong lines do not wrap: they have no room for more than a number.
#include "module/interrupt.h"

#include <stdio.h>
#include <time.h>

#define EVERY_NS 100000000u

static struct {
    int file;
    uint64_t due_ns; // 0: nobody listens
    int said;
} walk_listener = {.file = -1}; // under the GIL

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void walk_progress_tell(unsigned objects) {
    uint64_t now = walk_listener.due_ns ? now_ns() : 0;
    if (now < walk_listener.due_ns || !walk_listener.due_ns) {
        return;
    }
    walk_listener.due_ns = now + EVERY_NS;
    walk_listener.said = dprintf(walk_listener.file, "\r looked at %.1f million objects", objects / 1e6) > 0;
}

static PyObject *walk_listen(PyObject *module, PyObject *args) {
    int file, said = walk_listener.said;
    unsigned patience_ms;
    if (!PyArg_ParseTuple(args, "iI:walk_listen", &file, &patience_ms)) {
        return NULL;
    }
    walk_listener.file = file;
    walk_listener.due_ns = file < 0 ? 0 : now_ns() + patience_ms * 1000000ull;
    walk_listener.said = 0;
    return PyBool_FromLong(said);
}

static PyMethodDef walk_progress_functions[] = {
    {"walk_listen", walk_listen, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int walk_progress_exec(PyObject *module) { return PyModule_AddFunctions(module, walk_progress_functions); }
