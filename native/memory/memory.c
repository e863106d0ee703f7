// This process's own memory: its mappings, reads that cannot crash, and the scratch memory of a search.
//
// Memory may vanish while it is read: another thread unmaps it, or a mapped file is truncated. Two safe ways
// to read it:
// - memory_read copies through process_vm_readv(2): a bad address is an error; some 300 ns a call;
// - memory_guarded runs a body that reads directly, at full speed. While the guard is armed, a SIGSEGV or
//   SIGBUS in the armed thread jumps out of the body; in every other thread the signal goes on to the
//   previous handler. Disarming restores the previous handlers.
// There is one guard at a time: it is armed and disarmed with the GIL held throughout.
//
// A body under the guard must own nothing (no lock, no malloc, no reference): the jump frees nothing. Hence
// the scratch: one anonymous mapping that a search fills from the bottom and unmaps as a whole. It also keeps
// the search's own arrays of addresses out of the malloc heap, where the search would find them.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "memory/memory.h"
#include "memory/addresses.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>

// MAP_NORESERVE: a scratch reserves addresses, not memory; only what a search fills becomes resident.
int scratch_init(scratch *ret, size_t size) {
    void *start =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *ret = (scratch){0};
    if (start == MAP_FAILED) {
        return -1;
    }
    *ret = (scratch){.start = start, .size = size};
    return 0;
}

void scratch_deinit(scratch *memory) {
    if (memory->start) {
        munmap(memory->start, memory->size);
        *memory = (scratch){0};
    }
}

// Blocks start at cache lines. They are zero because the kernel zeroed the pages and no part is used twice.
void *scratch_alloc(scratch *memory, size_t size) {
    size = (size + 63) & ~(size_t)63;
    if (size > memory->size - memory->used) {
        return NULL;
    }
    void *block = memory->start + memory->used;
    memory->used += size;
    return block;
}

// Reads all of /proc/self/maps into the scratch; one read(2) returns at most a page.
static const char *maps_text(scratch *memory, size_t *ret_length) {
    _close_ int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    char *text = memory->start + memory->used;
    size_t length = 0, room = memory->size - memory->used;
    while (file >= 0 && length + 1 < room) {
        ssize_t got = read(file, text + length, room - length - 1);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        length += (size_t)got;
    }
    *ret_length = length;
    return length && scratch_alloc(memory, length + 1) ? text : NULL;
}

// sscanf would cost more than the kernel spends on writing the line: a thousand mappings are common.
static uint64_t maps_number(const char **at, unsigned base, char end) {
    uint64_t value = 0;
    for (; **at && **at != end && **at != '\n'; ++*at) {
        unsigned digit = **at <= '9' ? (unsigned)(**at - '0') : (unsigned)(**at - 'a' + 10);
        value = value * base + digit;
    }
    *at += **at == end;
    return value;
}

// One line: "start-stop perms offset device inode   path" (proc_pid_maps(5)).
static const char *maps_row(const char *at, memory_map *ret) {
    ret->start = maps_number(&at, 16, '-');
    ret->stop = maps_number(&at, 16, ' ');
    memcpy(ret->permissions, at, 4);
    at += 5;
    ret->file_offset = maps_number(&at, 16, ' ');
    at += strcspn(at, " ") + 1;
    ret->inode = maps_number(&at, 10, ' ');
    at += strspn(at, " ");
    ret->path = at;
    ret->path_length = strcspn(at, "\n");
    at += ret->path_length;
    return at + (*at == '\n');
}

// Rows and paths lie in the scratch. The list is a snapshot: other threads may map and unmap meanwhile.
int memory_maps_init(memory_maps *ret, scratch *memory) {
    size_t length, lines = 0;
    const char *text = maps_text(memory, &length);
    *ret = (memory_maps){0};
    if (!text) {
        return -1;
    }
    for (size_t i = 0; i < length; i++) {
        lines += text[i] == '\n';
    }
    ret->rows = scratch_alloc(memory, lines * sizeof *ret->rows);
    if (!ret->rows) {
        return -1;
    }
    for (const char *at = text; ret->count < lines; ret->count++) {
        at = maps_row(at, &ret->rows[ret->count]);
    }
    return 0;
}

const memory_map *memory_maps_find(const memory_maps *maps, uintptr_t address) {
    ptrdiff_t at = addresses_find(maps->rows, maps->count, sizeof *maps->rows, address);
    return at < 0 ? NULL : &maps->rows[at];
}

// The same where a container's filter, or an emulator, has no process_vm_readv: 3 us a call. The file is
// opened for each, as a child would read its parent by one that was opened before fork(2).
static ssize_t read_by_file(uintptr_t address, void *to, size_t size) {
    int file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : pread(file, to, size, (off_t)address);
    if (file >= 0) {
        close(file);
    }
    return got;
}

// The kernel clears this page in a child of fork(2) or clone(2): a process reads its own memory.
enum { PID_BYTES = 4096 };
static pid_t *pid_kept; // NULL where a kernel cannot do it

__attribute__((constructor)) static void pid_keep(void) {
    void *page = mmap(NULL, PID_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pid_kept = page != MAP_FAILED && madvise(page, PID_BYTES, MADV_WIPEONFORK) == 0 ? page : NULL;
}

static pid_t own_pid(void) {
    pid_t kept = pid_kept ? __atomic_load_n(pid_kept, __ATOMIC_RELAXED) : 0;
    if (!kept) {
        kept = getpid();
        if (pid_kept) {
            __atomic_store_n(pid_kept, kept, __ATOMIC_RELAXED);
        }
    }
    return kept;
}

// The kernel returns a short count when the range runs into memory that is not mapped.
size_t memory_read(uintptr_t address, void *to, size_t size) {
    struct iovec ours = {to, size}, theirs = {(void *)address, size};
    ssize_t got = process_vm_readv(own_pid(), &ours, 1, &theirs, 1, 0);
    if (got < 0 && (errno == ENOSYS || errno == EPERM)) {
        got = read_by_file(address, to, size);
    }
    return got < 0 ? 0 : (size_t)got;
}

static struct {
    volatile sig_atomic_t armed; // nesting depth: guards nest
    pthread_t thread;            // the thread whose faults are caught
    sigjmp_buf *escape;          // borrowed: in the frame of the innermost memory_guarded
    struct sigaction segv, bus;  // the previous handlers
    sigset_t blocked;            // the previous signal mask of the armed thread
} guard;

// A fault of another thread, or outside a body: does what would have happened without the guard.
static void guard_chain(int number, siginfo_t *cause, void *context) {
    const struct sigaction *previous = number == SIGSEGV ? &guard.segv : &guard.bus;
    if (previous->sa_flags & SA_SIGINFO) {
        previous->sa_sigaction(number, cause, context);
    } else if (previous->sa_handler == SIG_DFL || previous->sa_handler == SIG_IGN) {
        signal(number, SIG_DFL); // the faulting instruction runs again, and the kernel ends the process
    } else {
        previous->sa_handler(number);
    }
}

static void guard_caught(int number, siginfo_t *cause, void *context) {
    if (guard.armed && guard.escape && pthread_equal(guard.thread, pthread_self())) {
        siglongjmp(*guard.escape, 1);
    }
    guard_chain(number, cause, context);
}

// The kernel's mask is one word; glibc copies as many more from its stack as a sigset_t has. These old words
// may be addresses, and searches would find them here.
static void guard_take(int number, const struct sigaction *caught, struct sigaction *previous) {
    sigaction(number, caught, previous);
    memset((uint64_t *)&previous->sa_mask + 1, 0, sizeof previous->sa_mask - sizeof(uint64_t));
}

// SA_NODEFER: siglongjmp leaves the handler without returning. SA_ONSTACK: the previous handler
// (faulthandler) may expect to run on the alternate stack.
void memory_guard_arm(void) {
    struct sigaction caught = {.sa_sigaction = guard_caught,
                               .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    sigset_t faults;
    if (guard.armed++) {
        return;
    }
    guard.thread = pthread_self();
    guard.escape = NULL;
    sigemptyset(&caught.sa_mask);
    guard_take(SIGSEGV, &caught, &guard.segv);
    guard_take(SIGBUS, &caught, &guard.bus);
    sigemptyset(&faults); // a blocked fault would end the process, whatever the handler
    sigaddset(&faults, SIGSEGV);
    sigaddset(&faults, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &faults, &guard.blocked);
}

void memory_guard_disarm(void) {
    if (--guard.armed) {
        return;
    }
    pthread_sigmask(SIG_SETMASK, &guard.blocked, NULL);
    sigaction(SIGBUS, &guard.bus, NULL);
    sigaction(SIGSEGV, &guard.segv, NULL);
}

// sigsetjmp(.., 0) saves no signal mask: SA_NODEFER leaves it unchanged, so a call costs only 20 ns.
int memory_guarded(void (*body)(void *), void *argument) {
    sigjmp_buf escape, *outer = guard.escape;
    if (sigsetjmp(escape, 0)) {
        guard.escape = outer;
        return -1;
    }
    guard.escape = &escape;
    body(argument);
    guard.escape = outer;
    return 0;
}

static PyObject *map_tuple(const memory_map *row) {
    return Py_BuildValue("KKs#KKs#", (unsigned long long)row->start, (unsigned long long)row->stop,
                         row->permissions, (Py_ssize_t)4, (unsigned long long)row->file_offset,
                         (unsigned long long)row->inode, row->path, (Py_ssize_t)row->path_length);
}

static PyObject *memory_maps_list(PyObject *module, PyObject *unused) {
    _scratch_ scratch memory = {0};
    memory_maps maps;
    if (scratch_init(&memory, 64 << 20) < 0 || memory_maps_init(&maps, &memory) < 0) {
        return PyErr_SetFromErrnoWithFilename(PyExc_OSError, "/proc/self/maps");
    }
    _owned_ PyObject *rows = PyList_New(0);
    for (size_t i = 0; rows && i < maps.count; i++) {
        const memory_map *map = &maps.rows[i];
        if (map->start == (uintptr_t)memory.start) {
            continue; // the scratch itself: unmapped before the caller reads the list
        }
        if (list_add(rows, map_tuple(map)) < 0) {
            return NULL;
        }
    }
    return take(rows);
}

static PyObject *memory_read_bytes(PyObject *module, PyObject *args) {
    unsigned long long address;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "Kn:read", &address, &size)) {
        return NULL;
    }
    if (size < 0) {
        return PyErr_Format(PyExc_ValueError, "cannot read %zd bytes", size);
    }
    _owned_ PyObject *bytes = PyBytes_FromStringAndSize(NULL, size);
    if (bytes && memory_read((uintptr_t)address, PyBytes_AS_STRING(bytes), (size_t)size) != (size_t)size) {
        Py_RETURN_NONE;
    }
    return take(bytes);
}

PART_FUNCTIONS(memory, {"maps", memory_maps_list, METH_NOARGS, NULL},
               {"read", memory_read_bytes, METH_VARARGS, NULL})
