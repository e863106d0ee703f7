// Which mapping of this process holds an address, and whether its pages are in memory.
//
// Reading /proc/self/maps costs one line of text for each mapping (several hundred once NumPy and pandas are
// loaded). Linux 6.11 answers for one address (ioctl PROCMAP_QUERY, Documentation/filesystems/proc.rst and
// include/uapi/linux/fs.h): 2 us, whatever the number of mappings. On older kernels mapping_at returns None
// and inspector/binaries/mappings.py reads the text. The structs are declared here because the build
// machine's headers may be older than the running kernel.
//
// `read_present` checks /proc/self/pagemap first (bit 63: present). Reading a page that was never touched
// would fault it in, by memory_read too, and so change the inspected process.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "memory/memory.h"
#include "memory/pagemap.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/ioctl.h>
#include <linux/types.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

struct procmap_query_v1 {
    __u64 size, query_flags, query_addr;
    __u64 vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
    __u32 dev_major, dev_minor, vma_name_size, build_id_size;
    __u64 vma_name_addr, build_id_addr;
};
#define PROCMAP_QUERY_V1 _IOWR('f', 17, struct procmap_query_v1)

enum {
    VMA_READABLE = 1,
    VMA_WRITABLE = 2,
    VMA_EXECUTABLE = 4,
    VMA_SHARED = 8,
    NAME_BYTES = 4096, // PATH_MAX
    PAGEMAP_PRESENT_BIT = 63,
    MOST_BYTES_READ = 256, // a preview reads one element at a time
    PAGES_AT_FIRST = 2,    // 256 bytes lie in at most two pages
    SMAPS_BYTES = 1 << 20, // 1,400 mappings; what is not used is not in memory
    PAGES_AT_ONCE = 16,    // of what is asked of pagemap: a few hundred ns
};

static PyObject *mappings_at(PyObject *module /* borrowed */, PyObject *address /* borrowed */) {
    unsigned long long wanted = PyLong_AsUnsignedLongLong(address);
    if (wanted == (unsigned long long)-1 && PyErr_Occurred()) {
        return NULL;
    }
    int _close_ maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    char name[NAME_BYTES] = "";
    struct procmap_query_v1 query = {
        .size = sizeof(query),
        .query_addr = wanted,
        .vma_name_size = sizeof(name),
        .vma_name_addr = (__u64)(uintptr_t)name,
    };
    if (maps < 0 || ioctl(maps, PROCMAP_QUERY_V1, &query) < 0) {
        Py_RETURN_NONE;
    }
    const __u64 flags = query.vma_flags;
    const char permissions[] = {
        flags & VMA_READABLE ? 'r' : '-',
        flags & VMA_WRITABLE ? 'w' : '-',
        flags & VMA_EXECUTABLE ? 'x' : '-',
        flags & VMA_SHARED ? 's' : 'p',
        0,
    };
    PyObject *text = query.vma_name_size ? PyUnicode_DecodeFSDefault(name) : PyUnicode_FromString("");
    return Py_BuildValue("(KKsKNK)", query.vma_start, query.vma_end, permissions, query.vma_offset, text,
                         query.vma_page_size);
}

// A part of /proc/self/pagemap, as the addresses that are asked for lie near each other.
typedef struct {
    int file; // below 0: the kernel does not say
    uint64_t first, count;
    uint64_t words[PAGES_AT_ONCE];
} pages_known;

static int page_present(pages_known *known, uint64_t page) {
    if (page - known->first >= known->count) {
        size_t wanted = (known->count ? PAGES_AT_ONCE : PAGES_AT_FIRST) * sizeof(*known->words);
        ssize_t got = pread(known->file, known->words, wanted, (off_t)(page * sizeof(*known->words)));
        known->first = page;
        known->count = got > 0 ? (uint64_t)got / sizeof(*known->words) : 0;
    }
    return known->count && known->words[page - known->first] >> PAGEMAP_PRESENT_BIT;
}

// 1 where all pages of [start, start + bytes) are in memory; 0 where not, or where the kernel does not say.
static int mappings_present(pages_known *known, uint64_t start, size_t bytes) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), last = (start + bytes - 1) / page;
    for (uint64_t at = start / page; at <= last; at++) {
        if (!page_present(known, at)) {
            return 0;
        }
    }
    return 1;
}

// Reads `bytes` from each of some addresses, which are in `parts`, if all of it is in memory already. A page
// that is dropped in between costs a page fault but never a signal: process_vm_readv fails where a plain load
// would raise SIGBUS (a memmap of a truncated file).
static int mappings_read_parts(struct iovec *parts, size_t count, char *content, size_t bytes) {
    int _close_ pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    pages_known known = {.file = pagemap};
    for (size_t i = 0; i < count; i++) {
        if (!mappings_present(&known, (uintptr_t)parts[i].iov_base, bytes)) {
            return 0;
        }
    }
    for (size_t i = 0; i < count; i += IOV_MAX) {
        size_t some = count - i < IOV_MAX ? count - i : IOV_MAX;
        struct iovec to = {content + i * bytes, some * bytes};
        if (process_vm_readv(getpid(), &to, 1, parts + i, some, 0) != (ssize_t)(some * bytes)) {
            return 0;
        }
    }
    return 1;
}

static PyObject *mappings_read_present(PyObject *module /* borrowed */, PyObject *args /* borrowed */) {
    PyObject *addresses; // borrowed
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(args, "On:read_present", &addresses, &bytes)) {
        return NULL;
    }
    if (bytes <= 0 || bytes > MOST_BYTES_READ) {
        return PyErr_Format(PyExc_ValueError, "cannot read %zd bytes: a read is of 1 to %d bytes", bytes,
                            MOST_BYTES_READ);
    }
    int is_one = PyLong_Check(addresses);
    _owned_ PyObject *items = is_one ? PyTuple_Pack(1, addresses) : PySequence_Tuple(addresses);
    size_t count = items ? (size_t)PyTuple_GET_SIZE(items) : 0;
    struct iovec _free_ *parts = items ? calloc(count + 1, sizeof(*parts)) : NULL;
    _owned_ PyObject *content = parts ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count * bytes) : NULL;
    for (size_t i = 0; content && i < count; i++) {
        unsigned long long address = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(items, (Py_ssize_t)i));
        parts[i] = (struct iovec){(void *)(uintptr_t)address, (size_t)bytes};
    }
    if (!content || PyErr_Occurred()) {
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    if (!mappings_read_parts(parts, count, PyBytes_AS_STRING(content), (size_t)bytes)) {
        Py_RETURN_NONE;
    }
    return take(content);
}

// Whether the page that holds the address is a huge page; None where it is not in memory, or not known.
static PyObject *mappings_huge_at(PyObject *module /* borrowed */, PyObject *address /* borrowed */) {
    unsigned long long wanted = PyLong_AsUnsignedLongLong(address);
    if (wanted == (unsigned long long)-1 && PyErr_Occurred()) {
        return NULL;
    }
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    int huge;
    int _close_ pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap < 0 || pagemap_page(pagemap, wanted / page * page, page, &huge) < 1) {
        Py_RETURN_NONE;
    }
    return PyBool_FromLong(huge);
}

PyObject *mappings_room(void) { return PyBytes_FromStringAndSize(NULL, SMAPS_BYTES); }

// One read(2) returns at most a page. The buffer is twice as large where it was too small.
PyObject *mappings_smaps(PyObject *text) {
    _close_ int file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
    Py_ssize_t length = 0, room = SMAPS_BYTES, got = 1;
    if (file < 0) {
        Py_DECREF(text);
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    while (got > 0) {
        if (length == room && _PyBytes_Resize(&text, room *= 2) < 0) {
            return NULL;
        }
        got = read(file, PyBytes_AS_STRING(text) + length, (size_t)(room - length));
        length += got > 0 ? got : 0;
        got = got < 0 && errno == EINTR ? 1 : got;
    }
    _PyBytes_Resize(&text, length);
    return text;
}

PART_FUNCTIONS(mappings, {"huge_at", mappings_huge_at, METH_O, NULL},
               {"mapping_at", mappings_at, METH_O, NULL},
               {"read_present", mappings_read_present, METH_VARARGS, NULL})
