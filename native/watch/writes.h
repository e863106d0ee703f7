// What both ways of watching writes and breakpoints (watch/hardware_breakpoints.c) share: the records
// (watch/table.c), the signal and perf's events (watch/trap.c). Watchpoints of the processor are
// watch/writes.c; protected pages are writes_pages.c.
#ifndef INSPECTOR_WRITES_H
#define INSPECTOR_WRITES_H

#include "module/native.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

enum {
    WRITES_NATIVE = 40,
    WRITES_PYTHON = 16,
    WRITES_NAME = 64,
    WRITES_FILE = 120,
    WRITES_PAGE = 4096,
    WRITES_TRAP_PERF = 6, // TRAP_PERF of siginfo.h; older headers have no name for it
    WRITES_TRAP_LATE = 1, // TRAP_PERF_FLAG_ASYNC: the signal was blocked when it was due
};

// What the kernel says of a SIGTRAP of perf; glibc has no names for all of it (asm-generic/siginfo.h).
typedef struct {
    int number, error, code, unused;
    uint64_t address, mark;
    uint32_t type, flags;
} writes_cause;

typedef struct {
    char file[WRITES_FILE], name[WRITES_NAME];
    int line, from_c; // from_c: the last frame of an entry into the interpreter
} writes_frame;

typedef struct {
    uint64_t at_ns, before, after, pc;
    uint64_t address, bytes, stores; // from the first byte written on; instructions that did it
    int thread, size;                // size: bytes of `before` and `after`, at most 8
    int native_count, python_count;
    void *native[WRITES_NATIVE];
    writes_frame python[WRITES_PYTHON];
    volatile int complete;
} writes_record;

// Room for `capacity` records: 0, or -1 with an exception set; RuntimeError while a watch runs.
int writes_table_init(uint64_t capacity);
void writes_table_deinit(void);
// The next record, or NULL where all are taken. For a signal handler.
writes_record *writes_table_next(void);
// Time, thread, and both stacks of whoever was interrupted. For a signal handler.
void writes_table_who(writes_record *record, const ucontext_t *context);
// The bytecode instruction that the calling thread is at, or NULL. For a signal handler.
const void *writes_table_instruction(void);
// A new list of the complete records, as `writes_disarm` of _native.pyi says.
PyObject *writes_table_rows(void);

// SIGTRAP goes to `caught`, and to who had it before where that gives 0: 0, or -1 with errno.
int writes_trap_take(int (*caught)(const siginfo_t *cause, ucontext_t *context));
// Gives it back where no thread has one pending and nobody came later; else it stays, and passes on.
void writes_trap_return(void);
// Waits until no thread is in the handler, and `busy` (NULL: of nothing more) says 0: 1, or 0 where that took
// longer than a second.
int writes_trap_quiet(int (*busy)(void));
// Undoes an arming that failed, with an exception set, from errno where there is none: 1, or 0 where a thread
// may yet write to the records, which then stay.
int writes_give_up(int (*busy)(void));

// One event in each thread of a list of ids, in those they start too: 0, or -1 with errno or an exception.
int writes_events_open(struct perf_event_attr *attributes, PyObject *threads /* borrowed */);
void writes_events_enable(int on);
void writes_events_close(void);
int writes_events_count(void);

// watch/protect.c: [first, last) of whole pages. 0, or -1 with errno: EINVAL and ENOSYS before Linux 6.7.
int writes_protect_begin(uintptr_t first, uintptr_t last);
int writes_protect(uintptr_t from, uintptr_t to, int on); // a part of it; for a signal handler
void writes_protect_end(void);
int writes_protect_refused(void); // 0, or the errno

// watch/last_seen.c: the bytes [start, stop) as last seen. `anonymous`: a page that is not there is zeros.
int writes_copy_init(uintptr_t start, uintptr_t stop, int anonymous); // 0, or -1 with errno
void writes_copy_keep(uintptr_t from, size_t bytes);                  // seen: for a signal handler
int writes_copy_agrees(uintptr_t from, size_t bytes);                 // at most a page; for a signal handler
int writes_copy_differs(void); // 1, 0, or -1 where the kernel does not say what is there
void writes_copy_deinit(void);

// watch/repeat.c: a repeated store of x86-64.
typedef struct {
    int length, width, copies; // bytes of the instruction; of an element; movs, not stos
} writes_repeat;
// Whether the instruction at `code` is one.
int writes_repeat_read(const unsigned char *code, writes_repeat *ret);
// Runs it with the registers of the interrupted thread, and moves them on. For a signal handler.
void writes_repeat_run(const writes_repeat *repeat, greg_t *registers);

#endif
