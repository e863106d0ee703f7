// Materialization: data2 is filled once, for any caller and from any number of threads.
//
// Life cycle: LAZY_NOT -> LAZY_FILLING -> LAZY_DONE, changed only under the GIL. The thread that fills holds
// the lock `filled`; it releases the GIL (native recipes) or runs Python, which releases it now and then.
// Other threads that need data2 wait for `filled` without the GIL and check again. Failures:
//   * the recipe raises: back to LAZY_NOT, the memory of this call is freed, each waiter tries for itself;
//   * the recipe needs the data that it is computing, or two threads compute what the other waits for: an
//     error in the thread that would close the cycle (`waits` records who waits for what), never a deadlock;
//   * a signal arrives at a waiter: its handler runs; if it raises, the waiter stops waiting;
//   * fork() while another thread fills: the child does not have that thread, so it starts over.
// data2 may be filled in part: bit k of `done` is set after the bytes of block k are written.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"

typedef struct lazy_wait {
    unsigned long thread;
    LazyVector *vector; // borrowed: the waiter holds it
    struct lazy_wait *next;
} lazy_wait;

static lazy_wait *waits; // the waiters, on their stacks; read and changed under the GIL

// Whether the thread that fills `vector` waits, at the end of a chain of waiters, for this thread.
static int closes_cycle(const LazyVector *vector, unsigned long me) {
    unsigned long thread = vector->filler;
    for (const lazy_wait *wait = waits; thread != me && wait;) {
        if (wait->thread == thread) {
            thread = wait->vector->filler;
            wait = waits;
        } else {
            wait = wait->next;
        }
    }
    return thread == me;
}

static int wait_until_filled(LazyVector *vector) {
    lazy_wait me = {PyThread_get_thread_ident(), vector, waits};
    if (closes_cycle(vector, me.thread)) {
        return lazy_refuse("circle", Py_BuildValue("(O)", (PyObject *)vector));
    }
    waits = &me;
    int failed = 0;
    while (!failed && lazy_state_of(vector) == LAZY_FILLING) {
        PyThreadState *without = PyEval_SaveThread();
        if (PyThread_acquire_lock_timed(vector->filled, 100000, 1) == PY_LOCK_ACQUIRED) {
            PyThread_release_lock(
                vector->filled); // at once: holding it while waiting for the GIL would block all
        }
        PyEval_RestoreThread(without);
        failed = PyErr_CheckSignals();
    }
    lazy_wait **link = &waits;
    while (*link != &me) {
        link = &(*link)->next;
    }
    *link = me.next;
    return failed;
}

static int is_done(const LazyVector *vector, Py_ssize_t block) {
    return vector->done && vector->done[block / 64] >> (block % 64) & 1;
}

static int allocate(LazyVector *vector) {
    if (!vector->result) {
        vector->result = lazy_storage_create(Py_TYPE(vector), vector->length * vector->kind->itemsize);
    }
    if (vector->result && !vector->done) {
        uint64_t *done = calloc((size_t)(lazy_blocks(vector) / 64 + 1), sizeof *done);
        if (!done) {
            return error_no_memory();
        }
        __atomic_store_n(&vector->done, done, __ATOMIC_RELEASE);
    }
    return vector->result ? 0 : -1;
}

// Makes this thread the one that fills. 1 begun, 0 nothing to do, -1 with an exception set.
static int begin(LazyVector *vector, Py_ssize_t first, Py_ssize_t end) {
    for (;;) { // no Python runs between the last check of the state and LAZY_FILLING
        if (lazy_state_of(vector) == LAZY_DONE) {
            return 0;
        }
        if (lazy_state_of(vector) == LAZY_FILLING && vector->filler_pid == getpid()) {
            if (wait_until_filled(vector) < 0) {
                return -1;
            }
        } else if (vector->result && vector->done) {
            break;
        } else if (allocate(vector) < 0) { // before its blocks are read: there may be too many
            return -1;
        }
    }
    int missing = 0;
    for (Py_ssize_t block = first; block < end; block++) {
        missing |= !is_done(vector, block);
    }
    if (!missing && lazy_blocks(vector)) {
        return 0;
    }
    if (!vector->filled || lazy_state_of(vector) == LAZY_FILLING) { // the first time; or in a forked child
        vector->filled = PyThread_allocate_lock();
        if (!vector->filled) {
            return error_no_memory();
        }
    }
    if (lazy_prepare(vector) < 0) {
        return -1;
    }
    PyThread_acquire_lock(vector->filled, WAIT_LOCK);
    vector->filler = PyThread_get_thread_ident();
    vector->filler_pid = getpid();
    atomic_store(&vector->state, LAZY_FILLING);
    return 1;
}

// Computes the missing blocks of [first, end) into `bytes`. Returns the bytes written, or -1.
static Py_ssize_t compute(LazyVector *vector, char *bytes, Py_ssize_t first, Py_ssize_t end) {
    Py_ssize_t most = lazy_block_length(vector), size = vector->kind->itemsize, written = 0;
    for (Py_ssize_t block = first; block < end; block++) {
        Py_ssize_t i = block * most, n = vector->length - i < most ? vector->length - i : most;
        if (is_done(vector, block)) {
            continue;
        }
        if (lazy_region(vector, i, n, bytes + i * size) < 0) {
            return -1;
        }
        written += n * size;
    }
    return written;
}

static Py_ssize_t fill(LazyVector *vector, Py_ssize_t first, Py_ssize_t end) {
    PyThreadState *released = lazy_release_gil(vector);
    Py_ssize_t written = compute(vector, vector->result->bytes, first, end);
    lazy_take_gil(released);
    return written;
}

// Ends the filling: sets the state by the blocks that are done, and wakes the waiters.
static void finish(LazyVector *vector, Py_ssize_t first, Py_ssize_t end, int failed) {
    Py_ssize_t blocks = lazy_blocks(vector), done_blocks = 0, before = 0;
    for (Py_ssize_t block = 0; block < blocks; block++) {
        before += is_done(vector, block);
        if (!failed && first <= block && block < end) {
            __atomic_fetch_or(vector->done + block / 64, UINT64_C(1) << (block % 64), __ATOMIC_RELEASE);
        }
        done_blocks += is_done(vector, block);
    }
    if (failed && !before) {
        Py_CLEAR(vector->result);
    }
    atomic_store_explicit(&vector->state, !failed && done_blocks == blocks ? LAZY_DONE : LAZY_NOT,
                          memory_order_release);
    PyThread_release_lock(vector->filled);
}

int lazy_materialize_blocks(LazyVector *vector, Py_ssize_t first, Py_ssize_t end, PyObject *cause) {
    if (lazy_state_of(vector) == LAZY_DONE) {
        return 0;
    }
    int begun = begin(vector, first, end);
    if (begun <= 0) {
        return begun;
    }
    uint64_t start = clock_now_ns();
    Py_ssize_t written = fill(vector, first, end);
    finish(vector, first, end, written < 0);
    return written < 0
               ? -1
               : lazy_event(vector, "materialize", cause, written, (long long)(clock_now_ns() - start));
}

int lazy_materialize(LazyVector *vector, PyObject *cause) {
    return lazy_materialize_blocks(vector, 0, lazy_blocks(vector), cause);
}

static int retire(LazyVector *vector, LazyStorage *old) {
    if (!vector->retired && !(vector->retired = PyList_New(0))) {
        return -1;
    }
    return PyList_Append(vector->retired, (PyObject *)old);
}

// Call before a consumer may write: makes data2 exclusive to this vector. A shared storage is copied; the old
// one is kept if a thread without the GIL, which holds no reference, may be reading it.
int lazy_unshare(LazyVector *vector) {
    LazyStorage *old = vector->result;
    if (vector->exports) {
        return error_set(PyExc_BufferError,
                         "%zd consumers hold this memory: no writable buffer can be granted",
                         vector->exports);
    }
    if (Py_REFCNT(old) > 1) {
        LazyStorage *copy = lazy_storage_create(Py_TYPE(vector), old->size);
        if (!copy || (lazy_has_gil_free_readers() && retire(vector, old) < 0)) {
            Py_XDECREF(copy);
            return -1;
        }
        memcpy(copy->bytes, old->bytes, (size_t)old->size);
        vector->result = copy;
        Py_DECREF(old);
    }
    vector->written = 1;
    return 0;
}
