// Stops another process by ptrace(2) and searches its memory from outside; no code runs in it.
//
// Overview. remote_stop seizes every thread (PTRACE_SEIZE: no signal is sent) and interrupts it, until a pass
// over /proc/PID/task finds no new one; remote_go releases them. In between the memory does not change.
// remote_scan reads its resident pages through process_vm_readv(2) for memory/scan.c.
//
// Life cycle. When a tracer ends, for any reason, the kernel releases all threads it holds. So these
// functions run in a forked child of ours (debugger/attach/held.py), with a deadline from outside. A thread
// that does not stop in time (uninterruptible sleep in the kernel) is released in the same way.
//
// A signal that arrives while a thread is being stopped is kept and delivered at its release. Pages that the
// process has never touched, and pages in swap, are not read: a read would bring them into memory.
// SPDX-License-Identifier: MIT
#include "memory/memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { REMOTE_THREADS_MAX = 16384, REMOTE_SLICE = 1 << 20, REMOTE_PAGE = 4096, REMOTE_EVENT_STOP = 128 };
#define REMOTE_PRESENT (1ull << 63) // Documentation/admin-guide/mm/pagemap.rst
#define REMOTE_PAUSE_NS 100000

typedef struct {
    pid_t thread;
    int signal;  // delivered when the thread is released
    int stopped; // 1: stopped; -1: ended
} remote_thread;

typedef struct {
    remote_thread *rows; // owned: malloc
    size_t count;
    int64_t deadline_ns;
} remote_threads;

static int remote_known(const remote_threads *threads, pid_t thread) {
    for (size_t i = 0; i < threads->count; i++) {
        if (threads->rows[i].thread == thread) {
            return 1;
        }
    }
    return 0;
}

// 1: seized now; 0: ended, or seized already; -1 with errno.
static int remote_seize(remote_threads *threads, pid_t thread) {
    if (remote_known(threads, thread)) {
        return 0;
    }
    if (threads->count == REMOTE_THREADS_MAX) {
        errno = E2BIG;
        return -1;
    }
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) < 0) {
        return errno == ESRCH ? 0 : -1;
    }
    threads->rows[threads->count++] = (remote_thread){.thread = thread};
    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
    return 1;
}

// The number of newly seized threads: 0 when there are no more; -1 with errno.
static int remote_round(remote_threads *threads, pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    int found = 0;
    if (!folder) {
        return -1;
    }
    for (struct dirent *entry; found >= 0 && (entry = readdir(folder));) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        int row = thread > 0 ? remote_seize(threads, thread) : 0;
        found = row < 0 ? -1 : found + row;
    }
    int error = errno;
    closedir(folder);
    errno = error;
    return found;
}

// 0 when the thread is stopped or has ended; -1 with errno, ETIMEDOUT at the deadline.
static int remote_await(remote_threads *threads, remote_thread *row) {
    while (!row->stopped) {
        int status = 0;
        pid_t waited = waitpid(row->thread, &status, __WALL | WNOHANG);
        if (waited == row->thread) {
            row->stopped = WIFSTOPPED(status) ? 1 : -1;
            row->signal = WIFSTOPPED(status) && status >> 16 != REMOTE_EVENT_STOP ? WSTOPSIG(status) : 0;
        } else if (waited < 0 && errno != EINTR) {
            row->stopped = -1;
        } else if ((int64_t)clock_now_ns() > threads->deadline_ns) {
            errno = ETIMEDOUT;
            return -1;
        } else {
            nanosleep(&(struct timespec){0, REMOTE_PAUSE_NS}, NULL);
        }
    }
    return 0;
}

static void remote_release(pid_t thread, int number) {
    if (ptrace(PTRACE_DETACH, thread, NULL, (void *)(intptr_t)number) < 0) {
        waitpid(thread, NULL, __WALL | WNOHANG); // killed meanwhile: reaps it
    }
}

static int remote_stop_all(remote_threads *threads, pid_t pid) {
    for (int found = 1; found;) {
        found = remote_round(threads, pid);
        for (size_t i = 0; found > 0 && i < threads->count; i++) {
            found = remote_await(threads, &threads->rows[i]) < 0 ? -1 : found;
        }
        if (found < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *remote_threads_list(const remote_threads *threads) {
    _owned_ PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < threads->count; i++) {
        const remote_thread *row = &threads->rows[i];
        if (row->stopped > 0 && list_add(list, Py_BuildValue("ii", (int)row->thread, row->signal)) < 0) {
            return NULL;
        }
    }
    return take(list);
}

static PyObject *remote_stop(PyObject *module, PyObject *args) {
    int pid;
    double seconds;
    if (!PyArg_ParseTuple(args, "id:remote_stop", &pid, &seconds)) {
        return NULL;
    }
    _free_ remote_thread *rows = calloc(REMOTE_THREADS_MAX, sizeof *rows);
    remote_threads threads = {rows, 0, (int64_t)clock_now_ns() + (int64_t)(seconds * 1e9)};
    if (!rows) {
        return PyErr_NoMemory();
    }
    if (remote_stop_all(&threads, pid) < 0) {
        int error = errno;
        for (size_t i = 0; i < threads.count; i++) {
            remote_release(rows[i].thread, rows[i].signal);
        }
        errno = error;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    return remote_threads_list(&threads);
}

static PyObject *remote_go(PyObject *module, PyObject *threads) {
    _owned_ PyObject *fast = PySequence_Fast(threads, "threads are a sequence of (thread, signal)");
    for (Py_ssize_t i = 0; fast && i < PySequence_Fast_GET_SIZE(fast); i++) {
        int thread, number;
        PyObject *row = PySequence_Fast_GET_ITEM(fast, i); // borrowed
        if (!PyTuple_Check(row) || !PyArg_ParseTuple(row, "ii", &thread, &number)) {
            return PyErr_Format(PyExc_TypeError, "a thread is a tuple (thread, signal)");
        }
        remote_release(thread, number);
    }
    return fast ? Py_NewRef(Py_None) : NULL;
}

typedef struct {
    pid_t pid;
    int pagemap;  // -1: unreadable; then all pages are read
    char *buffer; // borrowed: in the scratch
    scan_job job;
    uint64_t scanned_bytes, left_out_bytes;
} remote_search;

// Copies a run of resident pages, searches the copy, and translates the hits to addresses in the process.
static int remote_search_run(remote_search *s, uintptr_t start, size_t size) {
    struct iovec ours = {s->buffer, size}, theirs = {(void *)start, size};
    ssize_t copied_bytes = process_vm_readv(s->pid, &ours, 1, &theirs, 1, 0);
    size_t read = copied_bytes < 0 ? 0 : (size_t)copied_bytes, before = s->job.hit_count;
    scan_range copied = {(uintptr_t)s->buffer, (uintptr_t)s->buffer + read};
    scan_runs runs = {.rows = &copied, .count = 1, .bytes = read};
    s->job.runs = &runs;
    s->job.scanned_bytes = 0;
    s->scanned_bytes += read;
    s->left_out_bytes += size - read;
    if (scan_words(&s->job) < 0) {
        return -1;
    }
    for (size_t i = before; i < s->job.hit_count && i < s->job.hit_capacity; i++) {
        s->job.hits[i].word += start - (uintptr_t)s->buffer;
    }
    return 0;
}

static int remote_search_slice(remote_search *s, uintptr_t start, size_t size) {
    uint64_t pages[REMOTE_SLICE / REMOTE_PAGE];
    size_t count = (size + REMOTE_PAGE - 1) / REMOTE_PAGE;
    ssize_t wanted = (ssize_t)(count * sizeof *pages);
    if (s->pagemap < 0 ||
        pread(s->pagemap, pages, (size_t)wanted, (off_t)(start / REMOTE_PAGE * sizeof *pages)) != wanted) {
        return remote_search_run(s, start, size);
    }
    for (size_t first = 0; first < count;) {
        size_t last = first;
        while (last < count && (pages[last] & REMOTE_PRESENT) == (pages[first] & REMOTE_PRESENT)) {
            last++;
        }
        size_t bytes = (last - first) * REMOTE_PAGE;
        if (!(pages[first] & REMOTE_PRESENT)) {
            s->left_out_bytes += bytes;
        } else if (remote_search_run(s, start + first * REMOTE_PAGE, bytes) < 0) {
            return -1;
        }
        first = last;
    }
    return PyErr_CheckSignals();
}

static int remote_search_all(remote_search *s, const scan_range *ranges, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (uintptr_t at = ranges[i].start; at < ranges[i].stop; at += REMOTE_SLICE) {
            size_t left = ranges[i].stop - at;
            if (remote_search_slice(s, at, left < REMOTE_SLICE ? left : REMOTE_SLICE) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static PyObject *remote_scan(PyObject *module, PyObject *args) {
    int pid;
    PyObject *in, *needles; // borrowed
    Py_ssize_t limit;
    if (!PyArg_ParseTuple(args, "iOOn:remote_scan", &pid, &in, &needles, &limit)) {
        return NULL;
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
    _scratch_ scratch memory = {0};
    _close_ int pagemap = open(path, O_RDONLY | O_CLOEXEC);
    remote_search s = {.pid = pid, .pagemap = pagemap};
    scan_range *ranges;
    size_t count;
    s.job.hit_capacity = limit < 0 ? 0 : (size_t)limit;
    if (scratch_init(&memory, SCRATCH_BYTES) < 0) {
        return PyErr_NoMemory();
    }
    if (scan_ranges_parse(needles, &memory, 0, &s.job.needles, &s.job.needle_count) < 0 ||
        scan_ranges_parse(in, &memory, 0, &ranges, &count) < 0) {
        return NULL;
    }
    s.buffer = scratch_alloc(&memory, REMOTE_SLICE);
    s.job.hits = scratch_alloc(&memory, s.job.hit_capacity * sizeof *s.job.hits);
    if (!s.buffer || !s.job.hits) {
        return PyErr_NoMemory();
    }
    if (remote_search_all(&s, ranges, count) < 0) {
        return NULL;
    }
    return Py_BuildValue("NnKK", scan_hits(&s.job), (Py_ssize_t)s.job.hit_count,
                         (unsigned long long)s.scanned_bytes, (unsigned long long)s.left_out_bytes);
}

PART_FUNCTIONS(remote, {"remote_stop", remote_stop, METH_VARARGS, NULL},
               {"remote_go", remote_go, METH_O, NULL}, {"remote_scan", remote_scan, METH_VARARGS, NULL})
