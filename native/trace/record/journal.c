// The journal of a trace: the names of interned types and code objects, in a mapped file.
//
// Overview. The records of a trace lie in mapped files, so they survive when the process is killed. They
// refer to types and code objects by number, whose meaning would be lost with the process. So, where a
// journal is kept, the name is written when the number is assigned: once per object, by memory copies only.
//
// Format. Two 64-bit words: bytes used, entries that did not fit. Then the entries, packed, in the machine's
// byte order: id (4 bytes), then 't' and the type's tp_name as a text, or 'c' and of a code object the first
// line (4 bytes), file and qualified name as texts, and its location table (PEP 657) as a text; or 's' and of
// a native stack the number of frames (4 bytes) and their return addresses. A text is the width of a
// character (1 byte), the number of characters (4 bytes), the characters.
//
// Life cycle. The file's space is reserved before it is mapped (memory/mapped_file.c). A forked child unmaps
// the journal: its numbers are the parent's.
// SPDX-License-Identifier: MIT
#include "memory/mapped_file.h"
#include "trace/record/record.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

enum { FIRST_BYTES = 1 << 19 }; // faulted in at once, so that a hook's names cause no page faults

typedef struct {
    uint64_t used, lost;
    char entries[];
} journal;

static journal *kept; // the mapping; NULL where no journal is kept
static size_t kept_bytes;

typedef struct {
    char *at, *end; // borrowed: in the mapping
    int full;
} pen;

static void put(pen *to, const void *from, size_t bytes) {
    to->full |= (size_t)(to->end - to->at) < bytes;
    if (to->full) {
        return;
    }
    memcpy(to->at, from, bytes);
    to->at += bytes;
}

static void put_text(pen *to, uint8_t width, const void *from, uint32_t characters) {
    put(to, &width, 1);
    put(to, &characters, sizeof characters);
    put(to, from, (size_t)width * characters);
}

static void put_unicode(pen *to, PyObject *text /* borrowed */) {
    put_text(to, (uint8_t)PyUnicode_KIND(text), PyUnicode_DATA(text), (uint32_t)PyUnicode_GET_LENGTH(text));
}

static void put_code(pen *to, PyCodeObject *code /* borrowed */) {
    uint32_t first = (uint32_t)code->co_firstlineno;
    put(to, &first, sizeof first);
    put_unicode(to, code->co_filename);
    put_unicode(to, code->co_qualname);
    put_text(to, 1, PyBytes_AS_STRING(code->co_linetable), (uint32_t)PyBytes_GET_SIZE(code->co_linetable));
}

// An entry is begun by one thread at a time: a stack is added without the GIL.
static int writing;

static pen entry_begin(uint32_t id, const char *kind) {
    while (__atomic_exchange_n(&writing, 1, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    pen to = {kept->entries + kept->used, (char *)kept + kept_bytes, 0};
    put(&to, &id, sizeof id);
    put(&to, kind, 1);
    return to;
}

static void entry_end(pen to) {
    if (to.full) {
        kept->lost++;
    } else {
        __atomic_store_n(&kept->used, (uint64_t)(to.at - kept->entries), __ATOMIC_RELEASE);
    }
    __atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
}

void journal_add_stack(uint32_t number, uint32_t count, const uintptr_t *frames) {
    if (kept) {
        pen to = entry_begin(number, "s");
        put(&to, &count, sizeof count);
        put(&to, frames, count * sizeof *frames);
        entry_end(to);
    }
}

void journal_add(uint32_t id, PyObject *object) {
    if (!kept) {
        return;
    }
    int is_code = PyCode_Check(object);
    pen to = entry_begin(id, is_code ? "c" : "t");
    if (is_code) {
        put_code(&to, (PyCodeObject *)object);
    } else {
        const char *name = ((PyTypeObject *)object)->tp_name;
        put_text(&to, 1, name, (uint32_t)strlen(name));
    }
    entry_end(to);
}

static void journal_close(void) {
    if (kept) {
        munmap(kept, kept_bytes);
    }
    kept = NULL;
}

static PyObject *journal_keep(PyObject *module, PyObject *args) {
    const char *path;
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(args, "sn", &path, &bytes)) {
        return NULL;
    }
    journal_close();
    if (!path[0]) {
        Py_RETURN_NONE;
    }
    if (bytes < (Py_ssize_t)sizeof *kept) {
        return PyErr_Format(PyExc_ValueError, "a journal needs at least %zu bytes", sizeof *kept);
    }
    size_t ready = bytes < FIRST_BYTES ? (size_t)bytes : FIRST_BYTES;
    kept = mapped_file_create(path, (size_t)bytes, ready, MAPPED_FILE_RESERVED);
    if (!kept) {
        return PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
    }
    kept_bytes = (size_t)bytes;
    Py_RETURN_NONE;
}

static void journal_forked(void) {
    writing = 0; // of a thread that the child does not have
    journal_close();
}

__attribute__((constructor)) static void journal_prepare(void) { pthread_atfork(NULL, NULL, journal_forked); }

PART_FUNCTIONS(journal, {"journal", journal_keep, METH_VARARGS, NULL})
