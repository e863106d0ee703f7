// Hardware breakpoints in this process: threads that reach an address, by perf_event_open(2).
//
// Overview. As with the watchpoints of watch/writes.c the processor traps, here before it runs the
// instruction at an address, and the kernel sends the thread SIGTRAP at once. The handler counts the hit,
// records thread and stacks (watch/table.c), and the thread continues. Nothing stops, no code is changed.
//
// Life cycle. hardware_breakpoints_arm opens one event per address and thread, which new threads inherit;
// hardware_breakpoints_disarm closes them, restores the signal and returns the records. One watch at a time,
// on writes or on breakpoints.
//
// Limits and why. At most four addresses: the processor has no more. A hit while SIGTRAP is blocked, as in
// the handler itself, is delivered late and not counted: its place is not known any more.
// SPDX-License-Identifier: MIT
#include "watch/writes.h"

#include <linux/hw_breakpoint.h>
#include <sys/syscall.h>

enum { HARDWARE_BREAKPOINTS_PLACES = 4 };

static struct {
    uintptr_t addresses[HARDWARE_BREAKPOINTS_PLACES];
    volatile uint64_t counted[HARDWARE_BREAKPOINTS_PLACES];
    int places;
    long only_thread; // count hits of this thread only; 0: of all threads
    volatile sig_atomic_t armed;
} breakpoints;

static int hardware_breakpoints_place(uintptr_t address) {
    for (int i = 0; i < breakpoints.places; i++) {
        if (breakpoints.addresses[i] == address) {
            return i;
        }
    }
    return -1;
}

static void hardware_breakpoints_record(int place, const ucontext_t *context) {
    __atomic_fetch_add(&breakpoints.counted[place], 1, __ATOMIC_RELAXED);
    writes_record *record = writes_table_next();
    if (record) {
        record->address = breakpoints.addresses[place];
        writes_table_locate(record, context);
    }
}

static int hardware_breakpoints_caught(const siginfo_t *cause, ucontext_t *context) {
    writes_cause trap_cause;
    memcpy(&trap_cause, cause, sizeof trap_cause);
    int place = hardware_breakpoints_place((uintptr_t)trap_cause.address);
    if (cause->si_code != WRITES_TRAP_PERF || place < 0) {
        return 0;
    }
    int is_wanted = !breakpoints.only_thread || breakpoints.only_thread == syscall(SYS_gettid);
    if (breakpoints.armed && is_wanted && !(trap_cause.flags & WRITES_TRAP_LATE)) {
        hardware_breakpoints_record(place, context);
    }
    return 1;
}

static int hardware_breakpoints_parse(PyObject *addresses) {
    breakpoints.places = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(addresses); i++) {
        unsigned long long address = PyLong_AsUnsignedLongLong(PyList_GET_ITEM(addresses, i));
        if (PyErr_Occurred()) {
            return -1;
        }
        if (breakpoints.places == HARDWARE_BREAKPOINTS_PLACES) {
            return error_set(PyExc_ValueError, "the processor has four breakpoints");
        }
        breakpoints.counted[breakpoints.places] = 0;
        breakpoints.addresses[breakpoints.places++] = (uintptr_t)address;
    }
    return 0;
}

static int hardware_breakpoints_open(PyObject *threads) {
    for (int i = 0; i < breakpoints.places; i++) {
        struct perf_event_attr attributes = {
            .type = PERF_TYPE_BREAKPOINT,
            .bp_type = HW_BREAKPOINT_X,
            .bp_addr = breakpoints.addresses[i],
            .bp_len = sizeof(long), // required by the kernel for code
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
                          &threads, &breakpoints.only_thread, &budget)) {
        return NULL;
    }
    if (hardware_breakpoints_parse(addresses) < 0 || writes_table_init(budget) < 0) {
        return NULL;
    }
    if (hardware_breakpoints_open(threads) < 0 || writes_trap_take(hardware_breakpoints_caught) < 0) {
        writes_give_up(NULL);
        return NULL;
    }
    breakpoints.armed = 1;
    writes_events_enable(1);
    Py_RETURN_NONE; // calls no function that may be watched
}

static PyObject *hardware_breakpoints_disarm(PyObject *module, PyObject *unused) {
    if (!breakpoints.armed) {
        return Py_BuildValue("[][]");
    }
    writes_events_close();
    int quiet = writes_trap_quiet(NULL);
    breakpoints.armed = 0;
    writes_trap_return();
    _owned_ PyObject *counts = PyList_New(0);
    for (int i = 0; counts && i < breakpoints.places; i++) {
        if (list_add(counts, PyLong_FromUnsignedLongLong(breakpoints.counted[i])) < 0) {
            Py_CLEAR(counts);
        }
    }
    PyObject *rows = counts ? writes_table_rows() : NULL; // moved to the result below
    if (quiet) {                                          // else a thread may still write to the table
        writes_table_deinit();
    }
    return rows ? Py_BuildValue("NO", rows, counts) : NULL;
}

PART_FUNCTIONS(hardware_breakpoints,
               {"hardware_breakpoints_arm", hardware_breakpoints_arm, METH_VARARGS, NULL},
               {"hardware_breakpoints_disarm", hardware_breakpoints_disarm, METH_NOARGS, NULL})
