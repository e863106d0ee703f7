// A function of another process called there, in a thread that stands still under our ptrace(2).
//
// Overview. remote_begin_call keeps the thread's registers, lays the arguments into them and the address 0 as
// the place to return to, and lets the thread go on. remote_end_call waits for the fault at 0, takes the
// result, and puts every register back: general ones, floating point and vectors (the call may come between
// any two instructions), and the number of a system call that was interrupted, which Linux then goes on with.
//
// Life cycle. The thread was seized by remote_stop in this process, and stays seized until remote_go. Between
// begin and end only this thread need run; whoever is the tracer may not end: the thread would return to 0 on
// its own and the process would die of it. So the caller is a process of its own that nothing interrupts
// (debugger/attach/calling.py).
//
// Limits and why. x86-64 only: registers and the System V calling convention. At most six words as arguments.
// A thread that blocks SIGSEGV is no thread to call in: Linux would reset its handler (signal(7)).
#define _GNU_SOURCE
#include "module/native.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#ifdef __x86_64__
#include <elf.h>
#include <sys/uio.h>
#include <sys/user.h>

enum { REMOTE_CALL_ARGUMENTS = 6, REMOTE_CALL_VECTORS = 1 << 15, REMOTE_CALL_RED_ZONE = 128 };
#define REMOTE_CALL_PAUSE_NS 50000

typedef struct {
    struct user_regs_struct general;
    size_t vector_bytes;
    unsigned char vectors[REMOTE_CALL_VECTORS];
} remote_registers;

static int remote_registers_read(pid_t thread, remote_registers *into) {
    struct iovec vectors = {into->vectors, sizeof into->vectors};
    if (ptrace(PTRACE_GETREGS, thread, NULL, &into->general) < 0 ||
        ptrace(PTRACE_GETREGSET, thread, (void *)NT_X86_XSTATE, &vectors) < 0) {
        return -1;
    }
    into->vector_bytes = vectors.iov_len;
    return 0;
}

static int remote_registers_write(pid_t thread, remote_registers *from) {
    struct iovec vectors = {from->vectors, from->vector_bytes};
    return ptrace(PTRACE_SETREGSET, thread, (void *)NT_X86_XSTATE, &vectors) < 0 ||
                   ptrace(PTRACE_SETREGS, thread, NULL, &from->general) < 0
               ? -1
               : 0;
}

// The thread at the beginning of `function`, as if it had been called from address 0.
static int remote_enter(pid_t thread, const remote_registers *kept, uint64_t function,
                        const uint64_t *arguments) {
    struct user_regs_struct there = kept->general;
    there.rsp = ((there.rsp - REMOTE_CALL_RED_ZONE) & ~(uint64_t)15) - 8;
    there.rip = function;
    there.rdi = arguments[0];
    there.rsi = arguments[1];
    there.rdx = arguments[2];
    there.rcx = arguments[3];
    there.r8 = arguments[4];
    there.r9 = arguments[5];
    there.rax = 0;
    there.orig_rax = (uint64_t)-1;    // the system call that it may be in is not begun again yet
    there.eflags &= ~(uint64_t)0x400; // the direction flag is clear on entry (System V ABI)
    if (ptrace(PTRACE_POKEDATA, thread, (void *)there.rsp, NULL) < 0 ||
        ptrace(PTRACE_SETREGS, thread, NULL, &there) < 0) {
        return -1;
    }
    return ptrace(PTRACE_CONT, thread, NULL, NULL) < 0 ? -1 : 0;
}

static PyObject *remote_begin_call(PyObject *module, PyObject *args) {
    int thread;
    unsigned long long function, words[REMOTE_CALL_ARGUMENTS] = {0};
    if (!PyArg_ParseTuple(args, "iK|KKKKKK:remote_begin_call", &thread, &function, &words[0], &words[1],
                          &words[2], &words[3], &words[4], &words[5])) {
        return NULL;
    }
    _free_ remote_registers *kept = calloc(1, sizeof *kept);
    uint64_t arguments[REMOTE_CALL_ARGUMENTS];
    if (!kept) {
        return PyErr_NoMemory();
    }
    for (int i = 0; i < REMOTE_CALL_ARGUMENTS; i++) {
        arguments[i] = words[i];
    }
    if (remote_registers_read(thread, kept) < 0 || remote_enter(thread, kept, function, arguments) < 0) {
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    return PyBytes_FromStringAndSize((const char *)kept, (Py_ssize_t)sizeof *kept);
}

// 1: it has returned; 0: not yet; -1 with errno: it has ended, or faulted somewhere else.
static int remote_returned(pid_t thread, struct user_regs_struct *there) {
    int status = 0;
    pid_t got = waitpid(thread, &status, __WALL | WNOHANG);
    if (got != thread) {
        return got < 0 && errno != EINTR ? -1 : 0;
    }
    if (!WIFSTOPPED(status)) {
        errno = ESRCH;
        return -1;
    }
    int number = WSTOPSIG(status), is_event = status >> 16;
    if (ptrace(PTRACE_GETREGS, thread, NULL, there) < 0) {
        return -1;
    }
    if (!is_event && number == SIGSEGV) {
        errno = EFAULT;
        return there->rip ? -1 : 1;
    }
    return ptrace(PTRACE_CONT, thread, NULL, (void *)(intptr_t)(is_event ? 0 : number)) < 0 ? -1 : 0;
}

static PyObject *remote_end_call(PyObject *module, PyObject *args) {
    int thread, returned = 0;
    double seconds;
    Py_buffer raw;
    if (!PyArg_ParseTuple(args, "iy*d:remote_end_call", &thread, &raw, &seconds)) {
        return NULL;
    }
    _buffer_ Py_buffer kept = raw;
    if (kept.len != (Py_ssize_t)sizeof(remote_registers)) {
        PyErr_SetString(PyExc_ValueError, "these are not the registers that remote_begin_call gave");
        return NULL;
    }
    struct user_regs_struct there = {0};
    for (double left = seconds; !(returned = remote_returned(thread, &there)) && left > 0;
         left -= REMOTE_CALL_PAUSE_NS / 1e9) {
        nanosleep(&(struct timespec){0, REMOTE_CALL_PAUSE_NS}, NULL);
    }
    if (!returned) {
        Py_RETURN_NONE;
    }
    int error = errno;
    if ((returned > 0 || error == EFAULT) && remote_registers_write(thread, kept.buf) < 0) {
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    errno = error;
    return returned < 0 ? PyErr_SetFromErrno(PyExc_OSError) : PyLong_FromUnsignedLongLong(there.rax);
}

static PyMethodDef remote_call_functions[] = {
    {"remote_begin_call", remote_begin_call, METH_VARARGS, NULL},
    {"remote_end_call", remote_end_call, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int remote_call_exec(PyObject *module) { return PyModule_AddFunctions(module, remote_call_functions); }
#else
int remote_call_exec(PyObject *module) { return 0; }
#endif
