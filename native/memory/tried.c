// How much memory a call would give back to the system: made in a copy of this process, and measured there.
//
// The copy is a bare clone(2): no handler of fork runs in it or in us (a library would end its threads before
// a fork), and its end sends us no signal. It has this thread alone. So a lock that another thread holds is
// never released there: the call may wait for ever, which is why the copy is ended when its time is over.
// What it reports is the difference of its own resident pages, before and after the call.
//
// Pages are shared until one of the two writes. We are as before; our next write to a page costs a fault.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "module/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_READ ((long long)-1)

// The second number of /proc/self/statm, in bytes.
static long long resident_bytes(void) {
    char text[128] = "";
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
    close(file);
    const char *second = got > 0 ? memchr(text, ' ', (size_t)got) : NULL;
    return second ? strtoll(second, NULL, 10) * sysconf(_SC_PAGESIZE) : NOT_READ;
}

// In the copy: never returns. No Python but the call itself.
static _Noreturn void try_and_tell(PyObject *call, int pipe_end) {
    PyGC_Disable();                                           // a collection would run the user's finalizers
    int (*trim)(size_t) = dlsym(RTLD_DEFAULT, "malloc_trim"); // glibc's
    long long before = resident_bytes();
    int is_done = call != Py_None ? PyObject_CallNoArgs(call) != NULL : trim && trim(0) >= 0;
    long long after = is_done ? resident_bytes() : NOT_READ;
    long long freed = before < 0 || after < 0 ? NOT_READ : before > after ? before - after : 0;
    ssize_t written = write(pipe_end, &freed, sizeof freed);
    _exit(written != sizeof freed);
}

// What the copy tells within the time, or NOT_READ. Who reads has no GIL.
static long long told_by(int pipe_end, int milliseconds) {
    long long freed = NOT_READ;
    struct pollfd waits = {pipe_end, POLLIN, 0};
    int ready;
    do {
        ready = poll(&waits, 1, milliseconds);
    } while (ready < 0 && errno == EINTR);
    return ready > 0 && read(pipe_end, &freed, sizeof freed) == sizeof freed ? freed : NOT_READ;
}

// Bytes that leave the resident set by `call()`, or by malloc_trim(0) for None; None: it did not end in time.
static PyObject *give_back_try(PyObject *module, PyObject *args) {
    PyObject *call; // borrowed
    int milliseconds, ends[2];
    if (!PyArg_ParseTuple(args, "Oi:give_back_try", &call, &milliseconds)) {
        return NULL;
    }
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    pid_t copy = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (copy == 0) {
        try_and_tell(call, ends[1]);
    }
    close(ends[1]);
    long long freed = NOT_READ;
    if (copy > 0) {
        Py_BEGIN_ALLOW_THREADS;
        freed = told_by(ends[0], milliseconds);
        kill(copy, SIGKILL);
        while (waitpid(copy, NULL, __WALL) < 0 && errno == EINTR) {
        }
        Py_END_ALLOW_THREADS;
    }
    close(ends[0]);
    if (freed < 0) {
        Py_RETURN_NONE;
    }
    return PyLong_FromLongLong(freed);
}

// A library that is preloaded may replace it.
static PyObject *malloc_at(PyObject *module, PyObject *unused) {
    void *(*of)(size_t) = malloc;
    return PyLong_FromVoidPtr((void *)of);
}

PART_FUNCTIONS(tried, {"give_back_try", give_back_try, METH_VARARGS, NULL},
               {"malloc_at", malloc_at, METH_NOARGS, NULL})
