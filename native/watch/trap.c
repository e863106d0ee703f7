// SIGTRAP and the perf events of a watch: perf_event_open(2) with sigtrap, in each thread.
//
// Overview. perf sends SIGTRAP at once to the thread that caused a counted event. The handler calls the
// active watch (`caught`), and passes on signals that do not belong to it.
//
// Limits and why. A thread that blocks SIGTRAP gets it later (TRAP_PERF_FLAG_ASYNC), perhaps after the watch.
// So the handler stays installed while /proc shows a pending one, as the default would end the process. A
// closed event sends it, too: to a thread that was preempted on its way out of a page fault. No signal is on
// its way to a thread that waits, or that has run longer since than a fault takes.
// SPDX-License-Identifier: MIT
#include "watch/writes.h"

#include <dirent.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

enum { EVENTS_MAX = 4096, QUIET_ROUNDS = 10000, QUIET_NS = 100000, RUNNING_MAX = 256, FAULT_NS = 5000000 };

typedef struct {
    unsigned long long thread, ran_ns; // when it was met first
} running_thread;

static struct {
    int (*caught)(const siginfo_t *cause, ucontext_t *context);
    struct sigaction previous; // the action before ours
    int handled;               // our handler is installed
    volatile int inside;       // threads in the handler
    int events[EVENTS_MAX], event_count;
} trap;

void writes_trap_pass_on(const struct sigaction *previous, int number, siginfo_t *cause, void *context) {
    if (previous->sa_flags & SA_SIGINFO) {
        previous->sa_sigaction(number, cause, context);
    } else if (previous->sa_handler == SIG_DFL) {
        signal(number, SIG_DFL); // the signal ends the process
        raise(number);
    } else if (previous->sa_handler != SIG_IGN) {
        previous->sa_handler(number);
    }
}

static void trap_caught(int number, siginfo_t *cause, void *context) {
    int error = errno;
    __atomic_fetch_add(&trap.inside, 1, __ATOMIC_SEQ_CST);
    int ours = trap.caught(cause, context);
    __atomic_fetch_sub(&trap.inside, 1, __ATOMIC_SEQ_CST);
    if (!ours) {
        writes_trap_pass_on(&trap.previous, number, cause, context);
    }
    errno = error;
}

int writes_trap_take(int (*caught)(const siginfo_t *cause, ucontext_t *context)) {
    struct sigaction action = {.sa_sigaction = trap_caught, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGURG); // it stops the thread in a debugger, behind the handler (pages.c)
    trap.caught = caught;
    if (!trap.handled) {
        trap.handled = !sigaction(SIGTRAP, &action, &trap.previous);
    }
    return trap.handled ? 0 : -1;
}

// Whether SIGTRAP is pending in a thread: "SigPnd:" of its status (proc(5)).
static int trap_pends_in(const char *thread) {
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/status", thread);
    FILE *status = fopen(path, "re");
    int found = 0;
    while (status && !found && fgets(line, sizeof line, status)) {
        unsigned long long pending;
        found = sscanf(line, "SigPnd: %llx", &pending) == 1 && pending >> (SIGTRAP - 1) & 1;
    }
    if (status) {
        fclose(status);
    }
    return found;
}

static int trap_pends(void) {
    DIR *threads = opendir("/proc/self/task");
    int found = 0;
    for (struct dirent *entry; threads && !found && (entry = readdir(threads));) {
        found = entry->d_name[0] != '.' && trap_pends_in(entry->d_name);
    }
    if (threads) {
        closedir(threads);
    }
    return found;
}

// The first line of a file of a thread in /proc; "" where it has ended.
static void trap_line(const char *thread, const char *file, char line[512]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/%s", thread, file);
    FILE *opened = fopen(path, "re");
    if (!opened || !fgets(line, 512, opened)) {
        line[0] = 0;
    }
    if (opened) {
        fclose(opened);
    }
}

// Whether a thread waits, or has run for FAULT_NS since it was met first: schedstat counts, stat has the
// state.
static int trap_left_fault(const char *name, running_thread *met, size_t *met_count) {
    char line[512];
    unsigned long long thread = strtoull(name, NULL, 10), ran = 0;
    trap_line(name, "stat", line);
    const char *state = strrchr(line, ')');
    if (thread == (unsigned long long)syscall(SYS_gettid) || !state || !strchr("RD", state[2])) {
        return 1;
    }
    trap_line(name, "schedstat", line);
    sscanf(line, "%llu", &ran);
    size_t i = 0;
    while (i < *met_count && met[i].thread != thread) {
        i++;
    }
    if (i == *met_count && i < RUNNING_MAX) {
        met[(*met_count)++] = (running_thread){thread, ran};
    }
    return i < RUNNING_MAX && ran - met[i].ran_ns >= FAULT_NS;
}

// Waits until no thread is on its way out of a page fault; 0 if some may be after QUIET_ROUNDS.
static int trap_settles(void) {
    running_thread met[RUNNING_MAX];
    size_t met_count = 0;
    int settled = 0;
    for (int round = 0; !settled && round < QUIET_ROUNDS; round++) {
        DIR *threads = opendir("/proc/self/task");
        settled = threads != NULL;
        for (struct dirent *entry; threads && (entry = readdir(threads));) {
            settled &= entry->d_name[0] == '.' || trap_left_fault(entry->d_name, met, &met_count);
        }
        if (threads) {
            closedir(threads);
        }
        if (!settled) {
            nanosleep(&(struct timespec){.tv_nsec = QUIET_NS}, NULL);
        }
    }
    return settled;
}

void writes_trap_return(void) {
    struct sigaction current;
    int settled = trap_settles();
    sigaction(SIGTRAP, NULL, &current);
    if (settled && current.sa_sigaction == trap_caught && !trap_pends()) { // a later handler may call ours
        sigaction(SIGTRAP, &trap.previous, NULL);
        trap.handled = 0;
    }
}

int writes_trap_quiet(int (*busy)(void)) {
    for (int round = 0; round < QUIET_ROUNDS; round++) {
        if (!trap.inside && !(busy && busy())) {
            return 1;
        }
        nanosleep(&(struct timespec){.tv_nsec = QUIET_NS}, NULL);
    }
    return 0;
}

// Opens the event of one thread; a thread that has ended is skipped.
static int events_open_one(struct perf_event_attr *attributes, pid_t thread) {
    int event = -1;
    errno = EMFILE;
    if (trap.event_count < EVENTS_MAX) {
        event = (int)syscall(SYS_perf_event_open, attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    }
    if (event >= 0) {
        trap.events[trap.event_count++] = event;
    }
    return event >= 0 || errno == ESRCH ? 0 : -1;
}

int writes_events_open(struct perf_event_attr *attributes, PyObject *threads) {
    attributes->size = sizeof *attributes;
    attributes->sample_period = 1;
    attributes->exclude_kernel = attributes->exclude_hv = 1;
    attributes->inherit = attributes->inherit_thread = 1;
    attributes->remove_on_exec = attributes->sigtrap = attributes->disabled = 1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(threads); i++) {
        long thread = PyLong_AsLong(PyList_GET_ITEM(threads, i));
        if (PyErr_Occurred() || events_open_one(attributes, (pid_t)thread) < 0) {
            return -1;
        }
    }
    return 0;
}

void writes_events_enable(int on) {
    for (int i = 0; i < trap.event_count; i++) {
        ioctl(trap.events[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
    }
}

// A forked child has the descriptors too: what it keeps open would still send signals.
void writes_events_close(void) {
    writes_events_enable(0);
    for (int i = 0; i < trap.event_count; i++) {
        close(trap.events[i]);
    }
    trap.event_count = 0;
}

int writes_events_count(void) { return trap.event_count; }

int writes_give_up(int (*busy)(void)) {
    if (!PyErr_Occurred()) {
        PyErr_SetFromErrno(PyExc_OSError);
    }
    writes_events_close();
    int quiet = writes_trap_quiet(busy);
    writes_trap_return();
    if (quiet) {
        writes_table_deinit();
    }
    return quiet;
}
