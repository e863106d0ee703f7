// Watches writes to a range of any size: protected pages, and a single step for each store.
//
// Overview. userfaultfd(2) protects the pages in its asynchronous mode (WP_ASYNC, Linux 6.7): at a write the
// kernel removes the protection and continues, for any writer. So no write can fail: read(2) into the array
// works, where mprotect(2) would make it fail with EFAULT. A thread's own write causes a page fault, and perf
// counts page faults: the thread gets SIGTRAP before it runs the instruction again. The handler copies the
// bytes and sets the trap flag; the instruction runs; the trap after it records the writer (watch/table.c)
// and protects the page again. `rep movs` and `rep stos` would trap at each iteration: the handler runs them
// whole.
//
// Neighbouring stores of one pass (same bytecode, same C frame, each at most 64 bytes on) form one record.
//
// Life cycle. writes_pages_arm copies the range, protects it and takes SIGTRAP; writes_pages_disarm removes
// the protection, waits for threads in a step, compares with the copy and returns the records. When the
// records or STORES_MAX run out, the pages stay unprotected: the cost of a watch is bounded.
//
// Limits and why. While one thread steps, the page is writable for all threads: what another one writes then
// is not recorded, nor is what the kernel writes; the comparison with the copy shows both. A thread that
// blocks SIGTRAP is never stepped, for the trap would end the process. Every other page fault of a thread
// costs a signal too while the watch lasts. x86-64.
// SPDX-License-Identifier: MIT
#include "machine/machine.h"
#include "watch/writes.h"

#include <sys/syscall.h>

#define PAGES_MARK 0x7772697465ull // sig_data of perf (siginfo.h): identifies our SIGTRAP

enum {
    STEP_BYTES = 64, // the most that an instruction without REP stores
    STEPS_MAX = 1024,
    STORES_PER_RECORD = 50,
    WHOLE_BYTES = 4 << 20,
    HUGE_BYTES = 2 << 20,
    NEAR_BYTES = 512, // of code: an unrolled loop
    TRAP_FLAG = 0x100,
    DIRECTION_FLAG = 0x400,
};

// The state of a thread: its current store, and the record that it may extend.
typedef struct {
    volatile int thread, stepping;
    uintptr_t pc, sp, begin; // begin: address of the copied bytes
    size_t kept;             // 0: the store is outside the range
    int early;               // the store begins before the range, and may end before it
    unsigned char before[STEP_BYTES];
    writes_record *last; // NULL, or the record that a neighbouring store extends
    uintptr_t last_pc, last_sp, last_begin;
    const void *last_instruction;
} pages_step;

#if MACHINE_STEPS

static struct {
    uintptr_t start, stop, first, last; // the bytes, and their pages
    size_t size;                        // of an element, at most 8
    uint64_t stores_max;
    int tells; // each record stops its thread in a debugger
    volatile uint64_t counted, beside, late;
    volatile sig_atomic_t armed, opened, unseen;
    pages_step steps[STEPS_MAX];
} pages;

// Protects a small range whole, the kernel may have written elsewhere in it; else two huge pages.
static void pages_protect_again(uintptr_t at) {
    if (!pages.armed || pages.opened) {
        return;
    }
    int whole = pages.last - pages.first <= WHOLE_BYTES;
    uintptr_t block = at & ~(uintptr_t)(HUGE_BYTES - 1);
    writes_protect(whole ? pages.first : block, whole ? pages.last : block + 2 * HUGE_BYTES, 1);
}

// The budget is spent: from now on nothing is recorded, at no cost.
static void pages_open_for_good(void) {
    pages.opened = 1;
    writes_protect(pages.first, pages.last, 0);
    writes_events_enable(0);
}

// The state of a thread, or NULL if too many threads wrote. `make`: create it.
static pages_step *pages_step_of(int thread, int make) {
    for (unsigned i = 0; i < STEPS_MAX; i++) {
        pages_step *step = &pages.steps[((unsigned)thread + i) % STEPS_MAX];
        int none = 0;
        if (step->thread == thread) {
            return step;
        }
        if (step->thread == 0) {
            if (!make) {
                return NULL;
            }
            if (__atomic_compare_exchange_n(&step->thread, &none, thread, 0, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST)) {
                return step;
            }
        }
    }
    return NULL;
}

static uint64_t pages_value(const void *at, size_t bytes) {
    uint64_t value = 0;
    memcpy(&value, at, bytes < pages.size ? bytes : pages.size);
    return value;
}

static int pages_stepping(void) {
    for (int i = 0; i < STEPS_MAX; i++) {
        if (pages.steps[i].stepping) {
            return 1;
        }
    }
    return 0;
}

// Copies the bytes that a store at `address` may change, from the start of their element.
static void pages_keep(pages_step *step, uintptr_t address) {
    uintptr_t begin = address < pages.start ? pages.start : address - (address - pages.start) % pages.size;
    uintptr_t end = begin + STEP_BYTES;
    end = end < pages.stop ? end : pages.stop;
    step->early = address < pages.start;
    step->begin = begin;
    step->kept = begin < end && begin < address + STEP_BYTES ? end - begin : 0;
    memcpy(step->before, (const void *)begin, step->kept);
    if (pages_stepping() == 0 && !writes_copy_agrees(begin, step->kept)) {
        pages.unseen = 1; // else a thread in its step may have written
    }
}

// Sends the thread a signal that it gets behind its store, when the handler has returned: a debugger stops it
// there and reads the record. Without a debugger SIGURG does nothing.
static void pages_tell(const writes_record *record) {
    siginfo_t told = {.si_signo = SIGURG, .si_code = SI_QUEUE};
    told.si_pid = getpid();
    told.si_uid = getuid();
    told.si_value.sival_ptr = (void *)record;
    syscall(SYS_rt_tgsigqueueinfo, told.si_pid, syscall(SYS_gettid), SIGURG, &told);
}

static writes_record *pages_record(uintptr_t begin, size_t bytes, uint64_t before, size_t kept,
                                   const ucontext_t *context) {
    writes_record *record = writes_table_next();
    if (!record) {
        pages_open_for_good();
        return NULL;
    }
    record->address = begin;
    record->bytes = bytes;
    record->stores = 1;
    record->size = (int)(kept < pages.size ? kept : pages.size);
    record->before = before;
    record->after = pages_value((const void *)begin, kept);
    writes_table_locate(record, context);
    if (pages.tells) {
        pages_tell(record);
    }
    return record;
}

// Runs a repeated store and records it as one write of its full width.
static void pages_repeated(pages_step *step, const machine_repeat *repeat, ucontext_t *context) {
    greg_t *registers = context->uc_mcontext.gregs;
    uintptr_t from = (uintptr_t)registers[REG_RDI],
              to = from + (uintptr_t)registers[REG_RCX] * (uintptr_t)repeat->width;
    from = from > pages.start ? from : pages.start;
    to = to < pages.stop ? to : pages.stop;
    int within = from < to;
    size_t kept = within ? to - from : 0;
    uint64_t before = within ? pages_value((const void *)from, kept) : 0;
    writes_protect(pages.first, pages.last, 0);
    machine_repeat_run(repeat, registers);
    step->last = NULL;
    if (within) {
        __atomic_fetch_add(&pages.counted, 1, __ATOMIC_RELAXED);
        writes_copy_keep(from, kept);
        pages_record(from, kept, before, kept, context);
    } else {
        __atomic_fetch_add(&pages.beside, 1, __ATOMIC_RELAXED);
    }
    if (pages.armed && !pages.opened) {
        writes_protect(pages.first, pages.last, 1);
    }
}

// Whether a store belongs to the pass of the last record.
static int pages_is_same_pass(const pages_step *step, const void *instruction) {
    return step->last && step->sp == step->last_sp && instruction == step->last_instruction &&
           step->pc - step->last_pc + NEAR_BYTES < 2 * NEAR_BYTES &&
           step->begin - step->last_begin - 1 < STEP_BYTES;
}

// The store was executed: creates a record, or extends the last one.
static void pages_stored(pages_step *step, const ucontext_t *context) {
    const unsigned char *now = (const unsigned char *)step->begin;
    size_t changed = step->kept;
    while (changed && now[changed - 1] == step->before[changed - 1]) {
        changed--;
    }
    if (step->early && !changed) {
        __atomic_fetch_add(&pages.beside, 1, __ATOMIC_RELAXED);
        return;
    }
    size_t bytes = changed > pages.size ? changed : step->kept < pages.size ? step->kept : pages.size;
    uint64_t stores = __atomic_add_fetch(&pages.counted, 1, __ATOMIC_RELAXED);
    const void *instruction = writes_table_instruction();
    writes_copy_keep(step->begin, step->kept);
    if (pages_is_same_pass(step, instruction)) {
        uint64_t end = step->begin + bytes - step->last->address;
        step->last->bytes = end > step->last->bytes ? end : step->last->bytes;
        step->last->stores++;
    } else {
        step->last =
            pages_record(step->begin, bytes, pages_value(step->before, step->kept), step->kept, context);
    }
    step->last_pc = step->pc;
    step->last_sp = step->sp;
    step->last_begin = step->begin;
    step->last_instruction = instruction;
    if (stores >= pages.stores_max) {
        pages_open_for_good();
    }
}

static int pages_stepped(ucontext_t *context) {
    greg_t *registers = context->uc_mcontext.gregs;
    pages_step *step = pages_step_of((int)syscall(SYS_gettid), 0);
    if (!step || !step->stepping) {
        return 0;
    }
    registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    if (pages.armed && !pages.opened) {
        if (step->kept) {
            pages_stored(step, context);
        } else {
            __atomic_fetch_add(&pages.beside, 1, __ATOMIC_RELAXED);
        }
        pages_protect_again(step->begin);
    }
    step->stepping = 0;
    return 1;
}

// A page fault in the range: the kernel has unprotected the page, and the instruction will run again.
static void pages_faulted(uintptr_t address, ucontext_t *context) {
    greg_t *registers = context->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)registers[REG_RIP];
    pages_step *step = pages_step_of((int)syscall(SYS_gettid), 1);
    machine_repeat repeat;
    if (!step) {
        __atomic_fetch_add(&pages.late, 1, __ATOMIC_RELAXED);
        return;
    }
    if (!step->stepping || step->pc != pc) { // else the same instruction faulted on its second page
        if (!(registers[REG_EFL] & DIRECTION_FLAG) &&
            machine_repeat_read((const unsigned char *)pc, &repeat)) {
            pages_repeated(step, &repeat, context);
            return;
        }
        pages_keep(step, address);
    }
    step->pc = pc;
    step->sp = (uintptr_t)registers[REG_RSP];
    step->stepping = 1;
    registers[REG_EFL] |= TRAP_FLAG;
}

static int pages_caught(const siginfo_t *cause, ucontext_t *context) {
    writes_cause trap_cause;
    if (cause->si_code == TRAP_TRACE) {
        return pages_stepped(context);
    }
    memcpy(&trap_cause, cause, sizeof trap_cause);
    if (cause->si_code != WRITES_TRAP_PERF || trap_cause.mark != PAGES_MARK) {
        return 0;
    }
    if (!pages.armed || pages.opened || trap_cause.address - pages.first >= pages.last - pages.first) {
        return 1;
    }
    if (trap_cause.flags & WRITES_TRAP_LATE || sigismember(&context->uc_sigmask, SIGTRAP)) {
        __atomic_fetch_add(&pages.late, 1, __ATOMIC_RELAXED);
    } else {
        pages_faulted((uintptr_t)trap_cause.address, context);
    }
    return 1;
}

static void pages_release(int quiet) {
    writes_protect_end();
    if (quiet) { // else a thread stopped in its step may still write to them
        writes_copy_deinit();
        writes_table_deinit();
    }
}

static int pages_begin(PyObject *threads, int anonymous) {
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .sig_data = PAGES_MARK};
    if (writes_protect_begin(pages.first, pages.last) < 0 ||
        writes_copy_init(pages.start, pages.stop, anonymous) < 0 ||
        writes_events_open(&attributes, threads) < 0 || writes_trap_take(pages_caught) < 0) {
        return -1;
    }
    pages.armed = 1;
    writes_events_enable(1);
    if (writes_protect(pages.first, pages.last, 1) < 0) {
        pages.armed = 0;
        return -1;
    }
    return 0;
}

static PyObject *writes_pages_arm(PyObject *module, PyObject *args) {
    unsigned long long start, bytes, budget;
    int size, anonymous, tells = 0;
    PyObject *threads; // borrowed
    if (!PyArg_ParseTuple(args, "KKipO!K|p:writes_pages_arm", &start, &bytes, &size, &anonymous, &PyList_Type,
                          &threads, &budget, &tells)) {
        return NULL;
    }
    if (size < 1 || size > 8 || bytes < 1) {
        return PyErr_Format(PyExc_ValueError, "an element has 1 to 8 bytes, a range at least one");
    }
    if (writes_table_init(budget) < 0) {
        return NULL;
    }
    memset(pages.steps, 0, sizeof pages.steps);
    pages.start = (uintptr_t)start;
    pages.stop = pages.start + bytes;
    pages.first = pages.start & ~(uintptr_t)(WRITES_PAGE - 1);
    pages.last = (pages.stop + WRITES_PAGE - 1) & ~(uintptr_t)(WRITES_PAGE - 1);
    pages.size = (size_t)size;
    pages.tells = tells;
    pages.counted = pages.beside = pages.late = 0;
    pages.opened = pages.unseen = 0;
    pages.stores_max = budget * STORES_PER_RECORD;
    if (pages_begin(threads, anonymous) < 0) {
        pages_release(writes_give_up(pages_stepping));
        return NULL;
    }
    return Py_BuildValue("ni", (Py_ssize_t)((pages.last - pages.first) / WRITES_PAGE), writes_events_count());
}

static PyObject *writes_pages_disarm(PyObject *module, PyObject *unused) {
    if (!pages.armed) {
        Py_RETURN_NONE;
    }
    writes_events_close();
    writes_protect_end();
    int quiet = writes_trap_quiet(pages_stepping);
    int silent = pages.unseen ? 1 : writes_copy_differs();
    pages.armed = 0;
    writes_trap_return();
    PyObject *rows = writes_table_rows(); // moved to the result below
    pages_release(quiet);
    return rows ? Py_BuildValue("NKiOKK", rows, (unsigned long long)pages.counted, silent,
                                pages.opened ? Py_True : Py_False, (unsigned long long)pages.beside,
                                (unsigned long long)pages.late)
                : NULL;
}

static PyObject *writes_pages_refused(PyObject *module, PyObject *unused) {
    return PyLong_FromLong(writes_protect_refused());
}

#else
static PyObject *writes_pages_arm(PyObject *module, PyObject *args) {
    errno = ENOTSUP;
    return PyErr_SetFromErrno(PyExc_OSError);
}
static PyObject *writes_pages_disarm(PyObject *module, PyObject *unused) { Py_RETURN_NONE; }
static PyObject *writes_pages_refused(PyObject *module, PyObject *unused) { return PyLong_FromLong(ENOTSUP); }
#endif

PART_FUNCTIONS(writes_pages, {"writes_pages_arm", writes_pages_arm, METH_VARARGS, NULL},
               {"writes_pages_disarm", writes_pages_disarm, METH_NOARGS, NULL},
               {"writes_pages_refused", writes_pages_refused, METH_NOARGS, NULL})
