// The guard against breakpoints that a killed debugger leaves behind: a SIGTRAP handler that repairs them.
//
// Overview. gdb plants a breakpoint by writing 0xCC (int3) over the first byte of an instruction. While gdb
// lives it intercepts the signal. When it is killed the byte stays, and SIGTRAP ends the process when a
// thread reaches it. With the guard armed that thread restores the byte and runs the instruction instead.
//
// What a killed gdb can leave in a thread, and what the guard does:
//  - the int3 was executed, pc is behind it: restores the byte and moves pc back.
//  - the same, but gdb had moved pc back before it died; the kernel still delivers the signal: restores the
//    byte, pc stays. The table distinguishes the two cases, so an address that is not in it is never guessed.
//  - a single step (trap flag): clears the flag. gdb must step in line, never in a scratch area (`set
//    displaced-stepping off`): from there a thread could not be brought back.
//  - SIGSTOP: not visible here; the watchdog outside (debugger/healing.py) sends SIGCONT.
//
// gdb writes the table of planted addresses and their bytes from outside, before it plants.
//
// Life cycle. traps_arm installs the handler and keeps the one before; the last traps_disarm restores that. A
// session in this process arms it for its duration; a notebook kernel arms it for good, for sessions from
// outside. Other SIGTRAPs go to the handler before, as without the guard.
//
// Limits and why. x86-64 only: elsewhere traps_arm returns None. The handler makes system calls directly,
// without libc: the breakpoint may be in `write`. The kernel ends a thread that blocks SIGTRAP (zmq's) when
// it reaches an int3, whatever the handler; for those the watchdog outside restores the bytes.
// SPDX-License-Identifier: MIT
#include "machine/machine.h"
#include "watch/writes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { TRAPS_MAX = 1024, TRAPS_INT3 = 0xCC, TRAPS_TRAP_FLAG = 0x100 };

// Exported, so that a debugger finds it by name from outside (debugger/planted.py).
__attribute__((visibility("default"))) struct {
    volatile uint64_t room;               // TRAPS_MAX while the guard is armed, else 0
    volatile uint64_t count;              // valid rows; written after them
    volatile uint64_t watched;            // 1: the user's code runs; gdb reads it and ignores other hits
    volatile uint64_t rows[TRAPS_MAX][2]; // address, original byte
} inspector_guard;

static struct {
    int armed;                 // number of armings: sessions, and a kernel's
    int handled;               // our handler is installed, perhaps below a later one
    int memory;                // /proc/self/mem: can write to read-only mappings
    struct sigaction previous; // the action before ours
} traps = {.memory = -1};

#if MACHINE_STEPS

static long traps_pwrite(int file, const void *from, size_t size, uintptr_t at) {
    register long offset __asm__("r10") = (long)at;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"((long)SYS_pwrite64), "D"((long)file), "S"(from), "d"(size), "r"(offset)
                     : "rcx", "r11", "memory");
    return result;
}

// The original byte at `address`, or -1.
static int traps_original(uintptr_t address) {
    uint64_t count = inspector_guard.count < TRAPS_MAX ? inspector_guard.count : TRAPS_MAX;
    for (uint64_t i = 0; i < count; i++) {
        if (inspector_guard.rows[i][0] == address) {
            return (int)(inspector_guard.rows[i][1] & 0xFF);
        }
    }
    return -1;
}

// 1: the byte at `address` is restored, here or by another thread.
static int traps_restore(uintptr_t address) {
    int original = traps_original(address);
    if (original < 0) {
        return 0;
    }
    unsigned char byte = (unsigned char)original;
    if (*(volatile unsigned char *)address == TRAPS_INT3 &&
        traps_pwrite(traps.memory, &byte, 1, address) != 1) {
        return 0;
    }
    return 1;
}

static void traps_caught(int number, siginfo_t *cause, void *context) {
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t after = (uintptr_t)registers[REG_RIP];
    if (cause->si_code == SI_KERNEL) { // an int3 was executed (arch/x86/kernel/traps.c: do_int3)
        if (traps_restore(after - 1)) {
            registers[REG_RIP] = (greg_t)(after - 1);
            return;
        }
        if (traps_restore(after)) {
            return;
        }
    }
    if (cause->si_code == TRAP_TRACE) {
        registers[REG_EFL] &= ~(greg_t)TRAPS_TRAP_FLAG;
        return;
    }
    writes_trap_pass_on(&traps.previous, number, cause, context);
}

// SA_NODEFER: with SIGTRAP blocked the kernel would end the process at an int3 inside the handler.
static int traps_install(void) {
    struct sigaction caught = {.sa_sigaction = traps_caught,
                               .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART};
    sigemptyset(&caught.sa_mask);
    traps.handled = traps.handled || !sigaction(SIGTRAP, &caught, &traps.previous);
    return traps.handled ? 0 : -1;
}

static void traps_uninstall(void) {
    struct sigaction current;
    sigaction(SIGTRAP, NULL, &current);
    if (current.sa_sigaction == traps_caught) { // else a later handler may call ours
        sigaction(SIGTRAP, &traps.previous, NULL);
        traps.handled = 0;
    }
}

#else
static int traps_install(void) {
    errno = ENOTSUP;
    return -1;
}
static void traps_uninstall(void) {}
#endif

static int traps_begin(void) {
    traps.memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    if (traps.memory < 0 || traps_install() < 0) {
        if (traps.memory >= 0) {
            close(traps.memory);
        }
        return -1;
    }
    inspector_guard.room = TRAPS_MAX;
    return 0;
}

static PyObject *traps_arm(PyObject *module, PyObject *unused) {
    if (!traps.armed && traps_begin() < 0) {
        Py_RETURN_NONE;
    }
    traps.armed++;
    inspector_guard.count = inspector_guard.watched = 0;
    return Py_BuildValue("Ki", (unsigned long long)(uintptr_t)&inspector_guard.count, (int)TRAPS_MAX);
}

static PyObject *traps_disarm(PyObject *module, PyObject *unused) {
    if (traps.armed && !--traps.armed) {
        inspector_guard.room = inspector_guard.count = 0;
        traps_uninstall();
        close(traps.memory);
    }
    Py_RETURN_NONE;
}

static PyObject *traps_watch(PyObject *module, PyObject *flag) {
    inspector_guard.watched = flag == Py_True;
    Py_RETURN_NONE;
}

PART_FUNCTIONS(traps, {"traps_arm", traps_arm, METH_NOARGS, NULL},
               {"traps_disarm", traps_disarm, METH_NOARGS, NULL}, {"traps_watch", traps_watch, METH_O, NULL})
