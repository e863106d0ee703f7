// The records of a watch, with the native and the Python stack of each hit. Filled in a signal handler.
//
// Overview. The table is one mapping, made before the watch begins, so the handler allocates nothing and
// takes no lock: a record is the next row. The frames are read on the stopped thread itself, so its chain of
// frames is stable. The text of a frame is copied at once, since its code object may be freed later.
//
// Life cycle. writes_table_init() makes the mapping, writes_table_deinit() frees it; one watch at a time.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "machine/machine.h"
#include "module/platform.h"
#include "watch/writes.h"

#include <sys/mman.h>
#include <sys/syscall.h>

enum { TABLE_MAX = 1000000 };

static struct {
    writes_record *records; // owned: one mapping
    uint64_t capacity;
    volatile uint64_t taken; // rows requested, also beyond `capacity`
} table;

int writes_table_init(uint64_t capacity) {
    if (table.records || capacity > TABLE_MAX) {
        return error_set(PyExc_RuntimeError, "a watch is already armed, or the budget is above a million");
    }
    void *room = mmap(NULL, (capacity + 1) * sizeof(writes_record), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void *first[2];
    platform_backtrace(first, 2); // the first call loads the unwinder, which a handler must not do
    if (room == MAP_FAILED) {
        return error_no_memory();
    }
    table.records = room;
    table.capacity = capacity;
    table.taken = 0;
    return 0;
}

void writes_table_deinit(void) {
    if (table.records) {
        munmap(table.records, (table.capacity + 1) * sizeof(writes_record));
    }
    table.records = NULL;
}

writes_record *writes_table_next(void) {
    uint64_t number = __atomic_fetch_add(&table.taken, 1, __ATOMIC_RELAXED);
    return number < table.capacity ? &table.records[number] : NULL;
}

// Copies the end of an ASCII str, else "?": enough for names, without allocation.
static void writes_text(PyObject *text, char *into, size_t size) {
    into[0] = '?';
    into[1] = 0;
    if (text && PyUnicode_Check(text) && PyUnicode_IS_ASCII(text)) {
        size_t length = (size_t)PyUnicode_GET_LENGTH(text), cut = length < size ? 0 : length - size + 1;
        memcpy(into, (const char *)PyUnicode_1BYTE_DATA(text) + cut, length - cut);
        into[length - cut] = 0;
    }
}

// The state of this thread. The current one belongs to another thread if this one has released the GIL.
static PyThreadState *writes_thread(int thread) {
    PyThreadState *state = compat_thread_unchecked();
    if (!state || (int)state->native_thread_id != thread) {
        state = PyGILState_GetThisThreadState();
    }
    return state;
}

static void writes_python(writes_record *record) {
    PyThreadState *state = writes_thread(record->thread);
    _PyInterpreterFrame *frame = state ? compat_thread_frame(state) : NULL;
    for (; frame && record->python_count < WRITES_PYTHON; frame = frame->previous) {
        PyCodeObject *code = compat_frame_code(frame); // borrowed
        if (!code) {
            continue;
        }
        writes_frame *row = &record->python[record->python_count++];
        int byte = (int)(compat_frame_instruction(frame) - _PyCode_CODE(code)) * (int)sizeof(_Py_CODEUNIT);
        writes_text(code->co_filename, row->file, sizeof row->file);
        writes_text(code->co_qualname, row->name, sizeof row->name);
        row->line = PyCode_Addr2Line(code, byte);
        row->from_c = compat_frame_from_c(frame) ? 1 : 0;
    }
}

const void *writes_table_instruction(void) {
    PyThreadState *state = writes_thread((int)syscall(SYS_gettid));
    _PyInterpreterFrame *frame = state ? compat_thread_frame(state) : NULL;
    return frame && compat_frame_code(frame) ? compat_frame_instruction(frame) : NULL;
}

void writes_table_locate(writes_record *record, const ucontext_t *context) {
    record->at_ns = clock_now_ns();
    record->thread = (int)syscall(SYS_gettid);
    record->pc = machine_pc(context);
    record->native_count = platform_backtrace(record->native, WRITES_NATIVE);
    writes_python(record);
    record->complete = 1;
}

static PyObject *writes_native_list(const writes_record *record) {
    _owned_ PyObject *list = PyList_New(0);
    int first = 0; // skips the frames of the handler
    while (first < record->native_count && (uint64_t)(uintptr_t)record->native[first] != record->pc) {
        first++;
    }
    for (int i = first == record->native_count ? 0 : first; list && i < record->native_count; i++) {
        if (list_add(list, PyLong_FromVoidPtr(record->native[i])) < 0) {
            return NULL;
        }
    }
    return take(list);
}

static PyObject *writes_python_list(const writes_record *record) {
    _owned_ PyObject *list = PyList_New(0);
    for (int i = 0; list && i < record->python_count; i++) {
        const writes_frame *row = &record->python[i];
        if (list_add(list, Py_BuildValue("ssii", row->name, row->file, row->line, row->from_c)) < 0) {
            return NULL;
        }
    }
    return take(list);
}

PyObject *writes_table_rows(void) {
    uint64_t count = table.taken < table.capacity ? table.taken : table.capacity;
    _owned_ PyObject *list = PyList_New(0);
    for (uint64_t i = 0; list && i < count; i++) {
        const writes_record *record = &table.records[i];
        if (!record->complete) {
            continue; // its thread ended while writing it
        }
        PyObject *native = writes_native_list(record), *python = writes_python_list(record); // "N" takes them
        if (list_add(list, Py_BuildValue("KiKiKKKKNN", (unsigned long long)record->at_ns, record->thread,
                                         (unsigned long long)record->address, record->size,
                                         (unsigned long long)record->before,
                                         (unsigned long long)record->after, (unsigned long long)record->bytes,
                                         (unsigned long long)record->stores, native, python)) < 0) {
            return NULL;
        }
    }
    return take(list);
}
