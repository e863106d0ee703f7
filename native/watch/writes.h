// Shared by both watches on writes and the hardware breakpoints (watch/hardware_breakpoints.c): the records
// (watch/table.c), the signal and the perf events (watch/trap.c). Watchpoints: writes.c; protected pages:
// pages.c.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_WRITES_H
#define INSPECTOR_WRITES_H

#include "module/native.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/types.h>
#include <ucontext.h>

enum {
    WRITES_NATIVE = 40,
    WRITES_PYTHON = 16,
    WRITES_NAME = 64,
    WRITES_FILE = 120,
    WRITES_PAGE = 4096,
    WRITES_TRAP_PERF = 6, // TRAP_PERF of siginfo.h, missing in older headers
    WRITES_TRAP_LATE = 1, // TRAP_PERF_FLAG_ASYNC: the signal was blocked when it was due
};

// The siginfo of a SIGTRAP of perf; glibc does not name all fields (asm-generic/siginfo.h).
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
    uint64_t address, bytes, stores; // first byte written; length; number of stores
    int thread, size;                // size: bytes of `before` and `after`, at most 8
    int native_count, python_count;
    void *native[WRITES_NATIVE];
    writes_frame python[WRITES_PYTHON];
    volatile int complete;
} writes_record;

// Allocates `capacity` records: 0, or -1 with an exception set; RuntimeError while a watch runs.
int writes_table_init(uint64_t capacity);
void writes_table_deinit(void);
// The next record, or NULL if all are used. For a signal handler.
writes_record *writes_table_next(void);
// Fills in the time, the thread and both stacks of the interrupted code. For a signal handler.
void writes_table_locate(writes_record *record, const ucontext_t *context);
// Address of the current bytecode instruction of this thread, or NULL. For a signal handler.
const void *writes_table_instruction(void);
// A new list of the complete records, as `writes_disarm` of inspector/_native.pyi describes them.
PyObject *writes_table_rows(void);

// Installs `caught` for SIGTRAP; signals for which it returns 0 go to the action before. 0, or -1 with errno.
// Does with a signal what would have happened without our handler, whose predecessor is `previous`.
void writes_trap_pass_on(const struct sigaction *previous, int number, siginfo_t *cause, void *context);
int writes_trap_take(int (*caught)(const siginfo_t *cause, ucontext_t *context));
// Restores the action before, unless a SIGTRAP is pending or a later handler was installed. Then ours stays.
void writes_trap_return(void);
// Waits until no thread is in the handler and `busy` (may be NULL) returns 0. 1, or 0 after a second.
int writes_trap_quiet(int (*busy)(void));
// Undoes a failed arming, with an exception set (from errno if there is none). Returns 1, or 0 if a thread
// may still write to the records, which then stay.
int writes_give_up(int (*busy)(void));

// Opens an event in each listed thread; new threads inherit it. 0, or -1 with errno or an exception.
int writes_events_open(struct perf_event_attr *attributes, PyObject *threads /* borrowed */);
void writes_events_enable(int on);
void writes_events_close(void);
int writes_events_count(void);

// watch/protect.c: [first, last) in whole pages. 0, or -1 with errno: EINVAL or ENOSYS before Linux 6.7.
int writes_protect_begin(uintptr_t first, uintptr_t last);
int writes_protect(uintptr_t from, uintptr_t to, int on); // a part of the range; for a signal handler
void writes_protect_end(void);
int writes_protect_refused(void); // 0, or an errno

// watch/last_seen.c: copies the bytes [start, stop). `anonymous`: a page that does not exist counts as zeros.
int writes_copy_init(uintptr_t start, uintptr_t stop, int anonymous); // 0, or -1 with errno
void writes_copy_keep(uintptr_t from, size_t bytes);  // updates the copy; for a signal handler
int writes_copy_agrees(uintptr_t from, size_t bytes); // at most a page; for a signal handler
int writes_copy_differs(void);                        // 1, 0, or -1 if PAGEMAP_SCAN fails
void writes_copy_deinit(void);

#endif
