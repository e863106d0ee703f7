// Breakpoints of the processor's own in this process: who reaches these addresses, by perf_event_open(2).
//
// Overview. As with the watchpoints of watch/writes.c the processor traps, here before the instruction at an
// address is run, and the kernel gives the thread SIGTRAP at once. The handler counts and records who it was
// (watch/table.c), and the thread goes on: nothing stops, no code is changed, no debugger is there.
//
// Life cycle. hardware_breakpoints_arm opens one event an address and a thread, which new threads inherit;
// hardware_breakpoints_disarm closes them, gives the signal back and the records. One at a time, a watch on
// writes included.
//
// Limits and why. At most four addresses: the processor has no more. A hit while SIGTRAP is blocked, as in
// the handler itself, comes when it is over and is not counted: where it was is not known any more.
#define _GNU_SOURCE
#include "module/native.h"
#include "watch/writes.h"

#include <linux/hw_breakpoint.h>
#include <string.h>
#include <sys/syscall.h>

enum { HARDWARE_BREAKPOINTS_PLACES = 4 };

static struct {
    uintptr_t addresses[HARDWARE_BREAKPOINTS_PLACES];
    volatile uint64_t counted[HARDWARE_BREAKPOINTS_PLACES];
    int places;
    long only; // the thread that is asked for; 0: every one
    volatile sig_atomic_t armed;
} hits;

static int hardware_breakpoints_place(uintptr_t address) {
    for (int i = 0; i < hits.places; i++) {
        if (hits.addresses[i] == address) {
            return i;
        }
    }
    return -1;
}

static void hardware_breakpoints_record(int place, const ucontext_t *context) {
    __atomic_fetch_add(&hits.counted[place], 1, __ATOMIC_RELAXED);
    writes_record *record = writes_table_next();
    if (record) {
        record->address = hits.addresses[place];
        writes_table_who(record, context);
    }
}

static int hardware_breakpoints_caught(const siginfo_t *cause, ucontext_t *context) {
    writes_cause said;
    memcpy(&said, cause, sizeof said);
    int place = hardware_breakpoints_place((uintptr_t)said.address);
    if (cause->si_code != WRITES_TRAP_PERF || place < 0) {
        return 0;
    }
    int asked = !hits.only || hits.only == syscall(SYS_gettid);
    if (hits.armed && asked && !(said.flags & WRITES_TRAP_LATE)) {
        hardware_breakpoints_record(place, context);
    }
    return 1;
}

static int hardware_breakpoints_parse(PyObject *addresses) {
    hits.places = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(addresses); i++) {
        unsigned long long address = PyLong_AsUnsignedLongLong(PyList_GET_ITEM(addresses, i));
        if (PyErr_Occurred()) {
            return -1;
        }
        if (hits.places == HARDWARE_BREAKPOINTS_PLACES) {
            PyErr_SetString(PyExc_ValueError, "the processor has four breakpoints");
            return -1;
        }
        hits.counted[hits.places] = 0;
        hits.addresses[hits.places++] = (uintptr_t)address;
    }
    return 0;
}

static int hardware_breakpoints_open(PyObject *threads) {
    for (int i = 0; i < hits.places; i++) {
        struct perf_event_attr attributes = {
            .type = PERF_TYPE_BREAKPOINT,
            .bp_type = HW_BREAKPOINT_X,
            .bp_addr = hits.addresses[i],
            .bp_len = sizeof(long), // as the kernel wants it for code
        };
        if (writes_events_open(&attributes, threads) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *hardware_breakpoints_arm(PyObject *module, PyObject *args) {
    PyObject *addresses, *threads; // borrowed
    unsigned long long budget;
    if (!PyArg_ParseTuple(args, "O!O!lK:hardware_breakpoints_arm", &PyList_Type, &addresses, &PyList_Type,
                          &threads, &hits.only, &budget)) {
        return NULL;
    }
    if (hardware_breakpoints_parse(addresses) < 0 || writes_table_init(budget) < 0) {
        return NULL;
    }
    if (hardware_breakpoints_open(threads) < 0 || writes_trap_take(hardware_breakpoints_caught) < 0) {
        writes_give_up(NULL);
        return NULL;
    }
    hits.armed = 1;
    writes_events_enable(1);
    Py_RETURN_NONE; // calls nothing that may be watched
}

static PyObject *hardware_breakpoints_disarm(PyObject *module, PyObject *unused) {
    if (!hits.armed) {
        return Py_BuildValue("[][]");
    }
    writes_events_close();
    int quiet = writes_trap_quiet(NULL);
    hits.armed = 0;
    writes_trap_return();
    _owned_ PyObject *counts = PyList_New(0);
    for (int i = 0; counts && i < hits.places; i++) {
        _owned_ PyObject *count = PyLong_FromUnsignedLongLong(hits.counted[i]);
        if (!count || PyList_Append(counts, count) < 0) {
            Py_CLEAR(counts);
        }
    }
    PyObject *rows = counts ? writes_table_rows() : NULL; // given away below
    if (quiet) {                                          // else a thread may yet write there
        writes_table_deinit();
    }
    return rows ? Py_BuildValue("NO", rows, counts) : NULL;
}

static PyMethodDef hardware_breakpoints_functions[] = {
    {"hardware_breakpoints_arm", hardware_breakpoints_arm, METH_VARARGS, NULL},
    {"hardware_breakpoints_disarm", hardware_breakpoints_disarm, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int hardware_breakpoints_exec(PyObject *module) {
    return PyModule_AddFunctions(module, hardware_breakpoints_functions);
}
