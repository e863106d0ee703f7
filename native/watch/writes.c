// Watches writes to up to four words: hardware watchpoints, by perf_event_open(2) with sigtrap.
//
// Overview. The processor traps after an instruction that wrote to a watched word, and the kernel sends the
// thread SIGTRAP (si_code TRAP_PERF). The handler records the thread, the time, the word's new value, native
// return addresses, and the Python frames with their lines, as text. No thread waits and no lock is taken. At
// most four words of 1, 2, 4 or 8 bytes: the processor has no more.
//
// Life cycle. writes_arm opens one event per word and thread, which new threads inherit, and takes SIGTRAP;
// writes_disarm closes the events, restores the signal and returns the records.
//
// Limits and why. Writes of the kernel (read(2) into an array) are no instruction of a thread and do not
// trap: the caller compares. A trap comes after the write: the old value is that of the last trap.
// SPDX-License-Identifier: MIT
#include "watch/writes.h"

#include <linux/hw_breakpoint.h>

enum { WRITES_WORDS = 4 };

static struct {
    uintptr_t addresses[WRITES_WORDS];
    int sizes[WRITES_WORDS], words;
    uint64_t last[WRITES_WORDS]; // value at the last trap
    volatile uint64_t counted;
    volatile sig_atomic_t armed;
} writes;

static uint64_t writes_value(int word) {
    uint64_t value = 0;
    memcpy(&value, (const void *)writes.addresses[word], (size_t)writes.sizes[word]);
    return value;
}

// The index of the word that contains a trapped address; -1: none.
static int writes_word(uintptr_t address) {
    for (int i = 0; i < writes.words; i++) {
        if (address - writes.addresses[i] < (uintptr_t)writes.sizes[i]) {
            return i;
        }
    }
    return -1;
}

static void writes_record_one(int word, const ucontext_t *context) {
    uint64_t after = writes_value(word), before = writes.last[word];
    writes.last[word] = after;
    __atomic_fetch_add(&writes.counted, 1, __ATOMIC_RELAXED);
    writes_record *record = writes_table_next();
    if (record) {
        record->address = writes.addresses[word];
        record->bytes = (uint64_t)(record->size = writes.sizes[word]);
        record->stores = 1;
        record->before = before;
        record->after = after;
        writes_table_locate(record, context);
    }
}

static int writes_caught(const siginfo_t *cause, ucontext_t *context) {
    int word = writes_word((uintptr_t)cause->si_addr);
    if (cause->si_code != WRITES_TRAP_PERF || word < 0) {
        return 0;
    }
    if (writes.armed) {
        writes_record_one(word, context);
    }
    return 1;
}

static int writes_parse(PyObject *words) {
    writes.words = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(words) && i < WRITES_WORDS; i++) {
        unsigned long long address;
        int size;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(words, i), "Ki", &address, &size)) {
            return -1;
        }
        if (size < 1 || size > 8) {
            return error_set(PyExc_ValueError, "a word has 1, 2, 4 or 8 bytes");
        }
        writes.addresses[writes.words] = (uintptr_t)address;
        writes.sizes[writes.words++] = size;
    }
    return 0;
}

static int writes_open(PyObject *threads) {
    for (int word = 0; word < writes.words; word++) {
        struct perf_event_attr attributes = {
            .type = PERF_TYPE_BREAKPOINT,
            .bp_type = HW_BREAKPOINT_W,
            .bp_addr = writes.addresses[word],
            .bp_len = (uint64_t)writes.sizes[word],
        };
        if (writes_events_open(&attributes, threads) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *writes_arm(PyObject *module, PyObject *args) {
    PyObject *words, *threads; // borrowed
    unsigned long long budget;
    if (!PyArg_ParseTuple(args, "O!O!K:writes_arm", &PyList_Type, &words, &PyList_Type, &threads, &budget)) {
        return NULL;
    }
    if (writes_parse(words) < 0 || writes_table_init(budget) < 0) {
        return NULL;
    }
    if (writes_open(threads) < 0 || writes_trap_take(writes_caught) < 0) {
        writes_give_up(NULL);
        return NULL;
    }
    for (int word = 0; word < writes.words; word++) {
        writes.last[word] = writes_value(word);
    }
    writes.counted = 0;
    writes.armed = 1;
    writes_events_enable(1);
    return PyLong_FromLong(writes_events_count());
}

static PyObject *writes_disarm(PyObject *module, PyObject *unused) {
    if (!writes.armed) {
        return Py_BuildValue("[]KO", 0ull, Py_False);
    }
    writes_events_close();
    int silent = 0;
    for (int word = 0; word < writes.words; word++) {
        silent |= writes_value(word) != writes.last[word];
    }
    int quiet = writes_trap_quiet(NULL);
    writes.armed = 0;
    writes_trap_return();
    PyObject *rows = writes_table_rows(); // moved to the result below
    if (quiet) {                          // else a stopped thread may still write to the table
        writes_table_deinit();
    }
    return rows ? Py_BuildValue("NKO", rows, (unsigned long long)writes.counted, silent ? Py_True : Py_False)
                : NULL;
}

PART_FUNCTIONS(writes, {"writes_arm", writes_arm, METH_VARARGS, NULL},
               {"writes_disarm", writes_disarm, METH_NOARGS, NULL})
