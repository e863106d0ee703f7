// Progress of a walk over the heap, written to a terminal by the walk itself.
//
// A census, a chain and a retained size hold borrowed pointers throughout, so neither Python code nor another
// thread may run meanwhile: only the walk itself can report. It checks for signals every few milliseconds
// (module/interrupt.h), and there it overwrites one line on a file descriptor that the caller chose. The line
// is short and never wraps.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "module/interrupt.h"

#define EVERY_NS 100000000u

static struct {
    int file;
    uint64_t due_ns;            // when to report next; 0: progress is off
    int is_written;             // the walk has written a line
} walk_listener = {.file = -1}; // guarded by the GIL

void walk_progress_tell(unsigned objects) {
    uint64_t now = walk_listener.due_ns ? clock_now_ns() : 0;
    if (now < walk_listener.due_ns || !walk_listener.due_ns) {
        return;
    }
    walk_listener.due_ns = now + EVERY_NS;
    walk_listener.is_written =
        dprintf(walk_listener.file, "\r visited %.1f million objects", objects / 1e6) > 0;
}

static PyObject *walk_listen(PyObject *module, PyObject *args) {
    int file, is_written = walk_listener.is_written;
    unsigned delay_ms;
    if (!PyArg_ParseTuple(args, "iI:walk_listen", &file, &delay_ms)) {
        return NULL;
    }
    walk_listener.file = file;
    walk_listener.due_ns = file < 0 ? 0 : clock_now_ns() + delay_ms * 1000000ull;
    walk_listener.is_written = 0;
    return PyBool_FromLong(is_written);
}

PART_FUNCTIONS(walk_progress, {"walk_listen", walk_listen, METH_VARARGS, NULL})
