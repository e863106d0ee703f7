// A session of events as Python sees it: begin, read, end; and the tables that describe a record.
//
// There is one session at a time, in one interpreter. These functions need the GIL, hooks do not. ring_read
// copies each ring. In mode "last" the owner may overwrite the oldest records meanwhile: like the reader of a
// sequence lock, ring_read checks the head again after the copy and leaves those out.
// SPDX-License-Identifier: MIT
#include "module/native.h"
#include "trace/record/ring.h"

#include <pthread.h>

#define MODE_NAME(name) #name,
static const char *const mode_names[] = {RING_MODES(MODE_NAME)};

static int mode_find(const char *name) {
    for (int mode = RING_LAST; mode <= RING_SUMS; mode++) {
        if (PyOS_stricmp(mode_names[mode], name) == 0) {
            return mode;
        }
    }
    return error_set(PyExc_ValueError, "mode %s: must be last, sums, stream or sample", name);
}

static int sizes_check(unsigned long long capacity, unsigned long long every) {
    if (capacity < 64 || capacity > 1ull << 32 || capacity & (capacity - 1) || !every) {
        return error_set(PyExc_ValueError,
                         "capacity must be a power of two from 64 to 2**32, every at least 1");
    }
    return 0;
}

static PyObject *read_begin(PyObject *module, PyObject *args) {
    const char *directory, *mode_name;
    unsigned long long capacity, every, total;
    int clocks, file;
    if (!PyArg_ParseTuple(args, "sKsKiKi", &directory, &capacity, &mode_name, &every, &clocks, &total,
                          &file)) {
        return NULL;
    }
    int mode = mode_find(mode_name);
    if (mode < 0 || sizes_check(capacity, every) < 0) {
        return NULL;
    }
    if (ring_wanted.mode != RING_OFF) {
        return PyErr_Format(PyExc_RuntimeError, "a session of events is already on");
    }
    if (strlen(directory) >= sizeof ring_wanted.directory) {
        return PyErr_Format(PyExc_ValueError, "the directory's name is longer than %zu bytes",
                            sizeof ring_wanted.directory - 1);
    }
    PyOS_snprintf(ring_wanted.directory, sizeof ring_wanted.directory, "%s", directory);
    ring_wanted.capacity = capacity;
    ring_wanted.every = every;
    ring_wanted.total_bytes = total;
    ring_wanted.clocks = (uint32_t)clocks;
    ring_calibrate();
    int number = mode == RING_STREAM ? ring_drain_start(file) : 0;
    if (number) {
        errno = number;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    ring_wanted.mode = (uint32_t)mode;
    ring_begin();
    Py_RETURN_NONE;
}

// As read_records, of a ring whose owner may fold it meanwhile.
static PyObject *read_once(ring *from, uint64_t *ret_first) {
    uint64_t head = __atomic_load_n(&from->header.head, __ATOMIC_ACQUIRE);
    uint64_t capacity = from->header.capacity, first = head > capacity ? head - capacity : 0;
    first = from->gone > first ? from->gone : first;
    first = ring_wanted.mode == RING_STREAM ? from->header.tail : first;
    first = first < head ? first : head;
    PyObject *copied = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((head - first) * sizeof(event)));
    if (!copied) {
        return NULL;
    }
    event *to = (event *)PyBytes_AS_STRING(copied);
    for (uint64_t at = first; at < head; at++) {
        memcpy(to++, from->records + (at & from->mask), sizeof(event));
    }
    int elsewhere = from->header.pthread != (uint64_t)pthread_self();
    uint64_t now = __atomic_load_n(&from->header.head, __ATOMIC_ACQUIRE) + (uint64_t)elsewhere;
    uint64_t safe = now > capacity ? now - capacity : 0; // the owner may be writing record `now` already
    if (ring_wanted.mode != RING_STREAM && safe > first && head > first) {
        uint64_t lost = safe < head ? safe - first : head - first;
        PyObject *whole = PyBytes_FromStringAndSize(PyBytes_AS_STRING(copied) + lost * sizeof(event),
                                                    (Py_ssize_t)((head - first - lost) * sizeof(event)));
        Py_DECREF(copied);
        first += lost;
        copied = whole;
    }
    *ret_first = first;
    return copied;
}

// The complete records of one ring as new bytes, and the number of the first one.
static PyObject *read_records(ring *from, uint64_t *ret_first) {
    enum { TRIES = 64 };
    PyObject *copied = NULL;
    for (int tries = 0; tries < TRIES; tries++) {
        uint64_t folds = __atomic_load_n(&from->folds, __ATOMIC_SEQ_CST);
        Py_XSETREF(copied, read_once(from, ret_first));
        if (!copied || (!(folds & 1) && folds == __atomic_load_n(&from->folds, __ATOMIC_SEQ_CST))) {
            break;
        }
    }
    return copied;
}

static PyObject *read_row(ring *from) {
    uint64_t first, dropped = from->header.dropped, skipped = from->header.skipped;
    PyObject *records = read_records(from, &first); // stolen by the row
    if (!records) {
        return NULL;
    }
    dropped += ring_wanted.mode == RING_STREAM ? 0 : first;
    return Py_BuildValue("(KIKKKiN)", (unsigned long long)from->header.pthread, from->header.tid,
                         (unsigned long long)from->header.head, (unsigned long long)dropped,
                         (unsigned long long)skipped, (int)from->header.mapped, records);
}

static PyObject *read_rings(PyObject *module, PyObject *unused) {
    _owned_ PyObject *rows = PyList_New(0);
    for (ring *each = ring_first; rows && each; each = each->next) {
        _owned_ PyObject *row = read_row(each);
        if (!row || PyList_Insert(rows, 0, row) < 0) {
            return NULL;
        }
    }
    return take(rows);
}

static PyObject *read_written(PyObject *module, PyObject *unused) {
    uint64_t written = 0;
    for (ring *each = ring_first; each; each = each->next) {
        written += __atomic_load_n(&each->header.head, __ATOMIC_RELAXED);
    }
    return PyLong_FromUnsignedLongLong(written);
}

static PyObject *read_end(PyObject *module, PyObject *unused) {
    static int ending; // guarded by the GIL, which is released below: another thread may call meanwhile
    uint64_t written = 0;
    int failed = 0;
    if (ring_wanted.mode == RING_OFF || ending) {
        return PyErr_Format(PyExc_RuntimeError, "no session of events is on");
    }
    ending = 1;
    ring_end();
    if (ring_wanted.mode == RING_STREAM) {
        // The reader may be in a slow write: release the GIL meanwhile.
        Py_BEGIN_ALLOW_THREADS failed = ring_drain_stop(&written);
        Py_END_ALLOW_THREADS
    }
    _owned_ PyObject *rows = read_rings(module, NULL);
    ring_wanted.mode = RING_OFF;
    ending = 0;
    ring *each = __atomic_exchange_n(&ring_first, NULL, __ATOMIC_ACQ_REL);
    while (each) {
        ring *next = each->next;
        ring_take(each);
        each = next;
    }
    return rows ? Py_BuildValue("(OKKi)", rows, (unsigned long long)ring_refused, (unsigned long long)written,
                                failed)
                : NULL;
}

static PyObject *read_clock(PyObject *module, PyObject *unused) {
    unsigned long long ns = clock_now_ns();
    return Py_BuildValue("(KKK)", (unsigned long long)ring_ticks(), ns,
                         (unsigned long long)ring_wanted.tick_ps);
}

static PyObject *read_greenlets(PyObject *module, PyObject *unused) {
    if (!greenlets_open) {
        __atomic_store_n(&greenlets_open, 1, __ATOMIC_SEQ_CST);
        ring_limits_clear();
        greenlets_settle();
    }
    Py_RETURN_NONE;
}

static PyObject *read_mark(PyObject *module, PyObject *args) {
    unsigned long long func, obj, val, aux;
    if (!PyArg_ParseTuple(args, "KKKK", &func, &obj, &val, &aux)) {
        return NULL;
    }
    event mark = {.kind = EVENT_MARK,
                  .func = (uint16_t)func,
                  .obj = obj,
                  .val = val,
                  .aux = aux,
                  .start = ring_start_ticks(),
                  .depth = ring_depth_byte(ring_here.depth)};
    return PyBool_FromLong(ring_record(&mark));
}

// A function that adds to the module a tuple of the rows that a list gives.
#define TABLE(LIST, ROW) \
    static int set_##LIST(PyObject *module) { \
        _owned_ PyObject *table = PyList_New(0); \
        _owned_ PyObject *rows = !table LIST(ROW) ? NULL : PyList_AsTuple(table); \
        return rows ? PyModule_AddObjectRef(module, #LIST, rows) : -1; \
    }
#define ADDED(...) || list_add(table, Py_BuildValue(__VA_ARGS__)) < 0
#define FIELD(ctype, name, code, meaning) ADDED("(ssis)", #name, code, (int)offsetof(event, name), meaning)
#define HEAD(ctype, name, code, meaning) \
    ADDED("(ssis)", #name, code, (int)offsetof(ring_header, name), meaning)
#define KIND(name, meaning) ADDED("(sis)", #name, EVENT_##name, meaning)
#define FLAG(name, bit, meaning) ADDED("(sis)", #name, EVENT_FLAG_##name, meaning)
#define COMPACT(name, meaning) ADDED("(sis)", #name, COMPACT_##name, meaning)
TABLE(EVENT_FIELDS, FIELD)
TABLE(RING_HEADER, HEAD)
TABLE(EVENT_KINDS, KIND)
TABLE(EVENT_FLAGS, FLAG)
TABLE(COMPACT_KINDS, COMPACT)

int ring_read_exec(PyObject *module) {
    _owned_ PyObject *magic = PyLong_FromUnsignedLongLong(RING_MAGIC);
    if (!magic || set_EVENT_FIELDS(module) < 0 || set_RING_HEADER(module) < 0 ||
        set_EVENT_KINDS(module) < 0 || set_EVENT_FLAGS(module) < 0 || set_COMPACT_KINDS(module) < 0 ||
        PyModule_AddObjectRef(module, "RING_MAGIC", magic) < 0) {
        return -1;
    }
    return ADD_FUNCTIONS(
        module, {"ring_begin", read_begin, METH_VARARGS, NULL}, {"ring_read", read_rings, METH_NOARGS, NULL},
        {"ring_written", read_written, METH_NOARGS, NULL}, {"ring_end", read_end, METH_NOARGS, NULL},
        {"ring_clock", read_clock, METH_NOARGS, NULL}, {"ring_mark", read_mark, METH_VARARGS, NULL},
        {"ring_greenlets", read_greenlets, METH_NOARGS, NULL});
}
