// Who writes to these bytes: hardware watchpoints in this process, by perf_event_open(2) with sigtrap.
//
// Overview. The processor traps after an instruction that wrote to a watched word; the kernel gives the
// thread that did it SIGTRAP (si_code TRAP_PERF), and the handler here records who it was: thread, time, the
// word's new value, native return addresses, and the Python frames with their lines, as text. Nothing waits
// and no lock is taken: a record is a place in a table that was made before. At most four words of 1, 2, 4 or
// 8 bytes: the processor has no more.
//
// Life cycle. writes_arm opens one event a word and a thread, which new threads inherit, and keeps SIGTRAP's
// handler; writes_disarm closes the events, puts the handler back unless somebody came later, and gives the
// records. The table is one mapping, made by arm and freed by disarm.
//
// Limits and why. Writes of the kernel (read(2) into an array) are no instruction of a thread: not seen, the
// caller compares. A trap comes after the write: the old value is what the last trap left. The frames are
// read on the thread that was stopped in its own code, so its chain of frames stands still; the text of a
// frame is copied at once, because a code object may be gone when it is asked for.
#define _GNU_SOURCE
#define INSPECTOR_INTERNALS
#include "native.h"

#include <errno.h>
#include <execinfo.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

enum {
    WRITES_WORDS = 4,
    WRITES_EVENTS = 4096,
    WRITES_NATIVE = 40,
    WRITES_PYTHON = 16,
    WRITES_NAME = 64,
    WRITES_FILE = 120,
    WRITES_TRAP_PERF = 6, // TRAP_PERF of siginfo.h; older headers have no name for it
};

typedef struct {
    char file[WRITES_FILE], name[WRITES_NAME];
    int line, from_c; // from_c: the last frame of an entry into the interpreter
} writes_frame;

typedef struct {
    uint64_t at_ns, before, after, pc;
    int thread, word, native_count, python_count;
    void *native[WRITES_NATIVE];
    writes_frame python[WRITES_PYTHON];
    volatile int complete;
} writes_record;

static struct {
    uintptr_t addresses[WRITES_WORDS];
    int sizes[WRITES_WORDS], words;
    uint64_t last[WRITES_WORDS]; // the value that the last trap left
    int events[WRITES_EVENTS], event_count;
    writes_record *records; // owned: one mapping
    uint64_t capacity;
    volatile uint64_t hits; // counted, recorded or not
    volatile sig_atomic_t armed;
    struct sigaction previous; // who had SIGTRAP before
    int handled;               // our handler is in
} writes;

static uint64_t writes_value(int word) {
    uint64_t value = 0;
    memcpy(&value, (const void *)writes.addresses[word], (size_t)writes.sizes[word]);
    return value;
}

// The end of a str that is ASCII or Latin-1, else "?": enough for names, and nothing is allocated.
static void writes_text(PyObject *text, char *into, size_t size) {
    into[0] = '?';
    into[1] = 0;
    if (text && PyUnicode_Check(text) && PyUnicode_IS_ASCII(text)) {
        size_t length = (size_t)PyUnicode_GET_LENGTH(text), cut = length < size ? 0 : length - size + 1;
        memcpy(into, (const char *)PyUnicode_1BYTE_DATA(text) + cut, length - cut);
        into[length - cut] = 0;
    }
}

// The calling thread's own state: the one that has the GIL is another's where this thread has given it up.
static PyThreadState *writes_thread(int thread) {
    PyThreadState *state = compat_thread_unchecked();
    if (!state || (int)state->native_thread_id != thread) {
        state = PyGILState_GetThisThreadState();
    }
    return state;
}

static void writes_python(writes_record *record) {
    PyThreadState *state = writes_thread(record->thread);
    _PyInterpreterFrame *frame = state ? compat_thread_frame(state) : NULL;
    for (; frame && record->python_count < WRITES_PYTHON; frame = frame->previous) {
        PyCodeObject *code = compat_frame_code(frame); // borrowed
        if (!code) {
            continue;
        }
        writes_frame *row = &record->python[record->python_count++];
        int byte = (int)(compat_frame_instruction(frame) - _PyCode_CODE(code)) * (int)sizeof(_Py_CODEUNIT);
        writes_text(code->co_filename, row->file, sizeof row->file);
        writes_text(code->co_qualname, row->name, sizeof row->name);
        row->line = PyCode_Addr2Line(code, byte);
        row->from_c = compat_frame_from_c(frame) ? 1 : 0;
    }
}

// The word that a trap is about: the kernel says its address.
static int writes_word(uintptr_t address) {
    for (int i = 0; i < writes.words; i++) {
        if (address - writes.addresses[i] < (uintptr_t)writes.sizes[i]) {
            return i;
        }
    }
    return -1;
}

static void writes_record_one(int word, const ucontext_t *context) {
    uint64_t number = __atomic_fetch_add(&writes.hits, 1, __ATOMIC_RELAXED);
    uint64_t after = writes_value(word), before = writes.last[word];
    writes.last[word] = after;
    if (number >= writes.capacity) {
        return;
    }
    writes_record *record = &writes.records[number];
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    record->at_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    record->thread = (int)syscall(SYS_gettid);
    record->word = word;
    record->before = before;
    record->after = after;
#ifdef __x86_64__
    record->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#endif
    record->native_count = backtrace(record->native, WRITES_NATIVE);
    writes_python(record);
    record->complete = 1;
}

static void writes_caught(int number, siginfo_t *cause, void *context) {
    int error = errno, word = writes_word((uintptr_t)cause->si_addr);
    if (cause->si_code == WRITES_TRAP_PERF && word >= 0) {
        if (writes.armed) {
            writes_record_one(word, context);
        }
    } else if (writes.previous.sa_flags & SA_SIGINFO) {
        writes.previous.sa_sigaction(number, cause, context);
    } else if (writes.previous.sa_handler == SIG_DFL) {
        signal(number, SIG_DFL);
        raise(number);
    } else if (writes.previous.sa_handler != SIG_IGN) {
        writes.previous.sa_handler(number);
    }
    errno = error;
}

static int writes_install(void) {
    struct sigaction caught = {.sa_sigaction = writes_caught,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    void *first[2];
    sigemptyset(&caught.sa_mask);
    backtrace(first, 2); // its first call loads the unwinder: not in a handler
    if (writes.handled) {
        return 0;
    }
    writes.handled = !sigaction(SIGTRAP, &caught, &writes.previous);
    return writes.handled ? 0 : -1;
}

static void writes_uninstall(void) {
    struct sigaction current;
    sigaction(SIGTRAP, NULL, &current);
    if (current.sa_sigaction == writes_caught) { // who came later passes on to us: then we stay
        sigaction(SIGTRAP, &writes.previous, NULL);
        writes.handled = 0;
    }
}

static int writes_open(pid_t thread, int word) {
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof attributes,
        .bp_type = HW_BREAKPOINT_W,
        .bp_addr = writes.addresses[word],
        .bp_len = (uint64_t)writes.sizes[word],
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .inherit = 1,
        .inherit_thread = 1,
        .remove_on_exec = 1,
        .sigtrap = 1,
        .disabled = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void writes_close(void) {
    for (int i = 0; i < writes.event_count; i++) {
        close(writes.events[i]);
    }
    writes.event_count = 0;
}

// One event for a thread and a word; a thread that has ended meanwhile is none.
static int writes_watch(pid_t thread) {
    for (int word = 0; word < writes.words; word++) {
        int event = writes.event_count < WRITES_EVENTS ? writes_open(thread, word) : -1;
        if (event < 0 && errno != ESRCH) {
            return -1;
        }
        if (event >= 0) {
            writes.events[writes.event_count++] = event;
        }
    }
    return 0;
}

static int writes_parse(PyObject *words, PyObject *threads) {
    writes.words = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(words) && i < WRITES_WORDS; i++) {
        unsigned long long address;
        int size;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(words, i), "Ki", &address, &size)) {
            return -1;
        }
        if (size < 1 || size > 8) {
            PyErr_SetString(PyExc_ValueError, "a word has 1, 2, 4 or 8 bytes");
            return -1;
        }
        writes.addresses[writes.words] = (uintptr_t)address;
        writes.sizes[writes.words++] = size;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(threads); i++) {
        long thread = PyLong_AsLong(PyList_GET_ITEM(threads, i));
        if (PyErr_Occurred()) {
            return -1;
        }
        if (writes_watch((pid_t)thread) < 0) {
            PyErr_SetFromErrno(PyExc_OSError);
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
    if (writes.armed || budget > 1000000) {
        PyErr_SetString(PyExc_RuntimeError, "armed already, or a budget above a million");
        return NULL;
    }
    void *table = mmap(NULL, (budget + 1) * sizeof(writes_record), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED) {
        return PyErr_NoMemory();
    }
    writes.records = table;
    writes.capacity = budget;
    writes.hits = 0;
    if (writes_parse(words, threads) < 0 || writes_install() < 0) {
        writes_close();
        munmap(table, (budget + 1) * sizeof(writes_record));
        return PyErr_Occurred() ? NULL : PyErr_SetFromErrno(PyExc_OSError);
    }
    for (int word = 0; word < writes.words; word++) {
        writes.last[word] = writes_value(word);
    }
    writes.armed = 1;
    for (int i = 0; i < writes.event_count; i++) {
        ioctl(writes.events[i], PERF_EVENT_IOC_ENABLE, 0);
    }
    return PyLong_FromLong(writes.event_count);
}

// --- what was recorded ---------------------------------------------------------------------------------

static PyObject *writes_native_list(const writes_record *record) {
    _owned_ PyObject *list = PyList_New(0);
    int first = 0; // the handler's own frames come before the one that wrote
    while (first < record->native_count && (uint64_t)(uintptr_t)record->native[first] != record->pc) {
        first++;
    }
    for (int i = first == record->native_count ? 0 : first; list && i < record->native_count; i++) {
        _owned_ PyObject *pc = PyLong_FromVoidPtr(record->native[i]);
        if (!pc || PyList_Append(list, pc) < 0) {
            return NULL;
        }
    }
    return take(list);
}

static PyObject *writes_python_list(const writes_record *record) {
    _owned_ PyObject *list = PyList_New(0);
    for (int i = 0; list && i < record->python_count; i++) {
        const writes_frame *row = &record->python[i];
        _owned_ PyObject *one = Py_BuildValue("ssii", row->name, row->file, row->line, row->from_c);
        if (!one || PyList_Append(list, one) < 0) {
            return NULL;
        }
    }
    return take(list);
}

static PyObject *writes_rows(void) {
    uint64_t count = writes.hits < writes.capacity ? writes.hits : writes.capacity;
    _owned_ PyObject *list = PyList_New(0);
    for (uint64_t i = 0; list && i < count; i++) {
        const writes_record *record = &writes.records[i];
        if (!record->complete) {
            continue; // its thread was ended in the middle
        }
        PyObject *native = writes_native_list(record), *python = writes_python_list(record); // "N" takes them
        _owned_ PyObject *row = Py_BuildValue("KiiKKNN", (unsigned long long)record->at_ns, record->thread,
                                              record->word, (unsigned long long)record->before,
                                              (unsigned long long)record->after, native, python);
        if (!row || PyList_Append(list, row) < 0) {
            return NULL;
        }
    }
    return take(list);
}

static PyObject *writes_disarm(PyObject *module, PyObject *unused) {
    if (!writes.armed) {
        return Py_BuildValue("[]KO", 0ull, Py_False);
    }
    writes_close();
    int silent = 0;
    for (int word = 0; word < writes.words; word++) {
        silent |= writes_value(word) != writes.last[word];
    }
    writes.armed = 0;
    writes_uninstall();
    PyObject *rows = writes_rows(); // given away below
    munmap(writes.records, (writes.capacity + 1) * sizeof(writes_record));
    writes.records = NULL;
    return rows ? Py_BuildValue("NKO", rows, (unsigned long long)writes.hits, silent ? Py_True : Py_False)
                : NULL;
}

static PyMethodDef writes_functions[] = {
    {"writes_arm", writes_arm, METH_VARARGS, NULL},
    {"writes_disarm", writes_disarm, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int writes_exec(PyObject *module) { return PyModule_AddFunctions(module, writes_functions); }
