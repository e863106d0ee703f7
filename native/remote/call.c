// Calls a function in another process, in a thread that is stopped by our ptrace(2).
//
// Overview. remote_begin_call saves the thread's registers, loads the arguments, sets the return address to
// 0, and resumes the thread. remote_end_call waits for the fault at 0, reads the result, and restores every
// register: general ones, floating point and vectors (the call may come between any two instructions), and
// the number of an interrupted system call, which Linux then restarts.
//
// Life cycle. remote_stop seized the thread in this process, and it stays seized until remote_go. Between
// begin and end only this thread need run. If the tracer ended then, the thread would return to 0 and crash
// the process. So the caller is a separate process that nothing interrupts (debugger/attach/calling.py).
//
// Limits and why. x86-64 only: registers and the System V calling convention. At most six words as arguments.
// A thread that blocks SIGSEGV cannot be used: Linux would reset its handler (signal(7)).
// SPDX-License-Identifier: MIT
#include "machine/machine.h"
#include "module/native.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#if MACHINE_REMOTE_CALLS
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

// Sets the thread to the start of `function`, as if it were called from address 0, and resumes it.
static int remote_enter(pid_t thread, const remote_registers *kept, uint64_t function,
                        const uint64_t *arguments) {
    struct user_regs_struct registers = kept->general;
    registers.rsp = ((registers.rsp - REMOTE_CALL_RED_ZONE) & ~(uint64_t)15) - 8;
    registers.rip = function;
    registers.rdi = arguments[0];
    registers.rsi = arguments[1];
    registers.rdx = arguments[2];
    registers.rcx = arguments[3];
    registers.r8 = arguments[4];
    registers.r9 = arguments[5];
    registers.rax = 0;
    registers.orig_rax = (uint64_t)-1;    // does not restart an interrupted system call yet
    registers.eflags &= ~(uint64_t)0x400; // the direction flag is clear on entry (System V ABI)
    if (ptrace(PTRACE_POKEDATA, thread, (void *)registers.rsp, NULL) < 0 ||
        ptrace(PTRACE_SETREGS, thread, NULL, &registers) < 0) {
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

// 1: the call returned; 0: not yet; -1 with errno: the thread ended, or faulted elsewhere.
static int remote_returned(pid_t thread, struct user_regs_struct *registers) {
    int status = 0;
    pid_t waited = waitpid(thread, &status, __WALL | WNOHANG);
    if (waited != thread) {
        return waited < 0 && errno != EINTR ? -1 : 0;
    }
    if (!WIFSTOPPED(status)) {
        errno = ESRCH;
        return -1;
    }
    int number = WSTOPSIG(status), is_event = status >> 16;
    if (ptrace(PTRACE_GETREGS, thread, NULL, registers) < 0) {
        return -1;
    }
    if (!is_event && number == SIGSEGV) {
        errno = EFAULT;
        return registers->rip ? -1 : 1;
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
        return PyErr_Format(PyExc_ValueError, "these are not the registers that remote_begin_call returned");
    }
    struct user_regs_struct registers = {0};
    for (double left = seconds; !(returned = remote_returned(thread, &registers)) && left > 0;
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
    return returned < 0 ? PyErr_SetFromErrno(PyExc_OSError) : PyLong_FromUnsignedLongLong(registers.rax);
}

PART_FUNCTIONS(remote_call, {"remote_begin_call", remote_begin_call, METH_VARARGS, NULL},
               {"remote_end_call", remote_end_call, METH_VARARGS, NULL})
#else
int remote_call_exec(PyObject *module) { return 0; }
#endif
