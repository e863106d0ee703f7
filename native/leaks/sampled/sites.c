// Where memory was asked for: the Python frames of the thread, and the native frames below them.
//
// A site is kept once, under the hash of its frames. Unwinding costs microseconds, so it is done once for
// each path: the Python frames, the function and the address of the hook's frame name one. Two paths of C
// between the same Python instruction and the same depth of the stack are taken for one.
//
// A thread that released the GIL has its frames still. One of C has none: the frames of the main thread,
// which mostly waits for such threads, are read then as bytes (memory_read). Without the GIL no
// reference can be taken: the code objects are borrowed, and the reader asks the allocator whether they are
// still there.
//
// All is called under the lock of sampler.c. Limits: GROWTH_SITES sites; more have number 0.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/sampled/growth.h"
#include "memory/memory.h"
#include "trace/record/record.h"
#include "trace/record/stacks.h"

#include <internal/pycore_runtime.h>
#include <unwind.h>

enum { PATHS = 1 << 12, TRIED = 64 };
#define MIX 0x9E3779B97F4A7C15ULL

static growth_site sites[GROWTH_SITES]; // number 0 is no site
static struct {
    uint64_t hash;
    uint32_t site;
} paths[PATHS];
static scan_range own_text, interpreter;
int growth_borrows;
static int sites_used;
static PyThreadState *main_thread; // borrowed: it lives as long as the interpreter

static int is_inside(uintptr_t address, scan_range range) {
    return address - range.start < range.stop - range.start;
}

static void mix(growth_site *site, uint64_t word) {
    site->hash = (site->hash ^ word) * MIX;
    site->hash ^= site->hash >> 29;
}

static void add_python(growth_site *site, PyCodeObject *code, const void *instruction) {
    int32_t at = (int32_t)((const char *)instruction - (const char *)_PyCode_CODE(code));
    site->codes[site->python_count] = code;
    site->instructions[site->python_count++] = at;
    mix(site, (uint64_t)(uintptr_t)code);
    mix(site, (uint64_t)at);
}

static void add_own(growth_site *site, PyThreadState *thread) {
    _PyInterpreterFrame *frame = compat_thread_frame(thread);
    for (; frame && site->python_count < GROWTH_PYTHON_FRAMES; frame = frame->previous) {
        PyCodeObject *code = compat_frame_code(frame); // borrowed
        if (code) {
            add_python(site, code, (void *)compat_frame_instruction(frame));
        }
    }
}

// Frames mostly lie side by side: one read gets those below the innermost one too.
static struct {
    uintptr_t start;
    char bytes[1 << 13];
} nearby;

static int read_frame(uintptr_t at, _PyInterpreterFrame *ret) {
    uintptr_t offset = at - nearby.start;
    if (offset <= sizeof nearby.bytes - sizeof *ret) {
        memcpy(ret, nearby.bytes + offset, sizeof *ret);
        return 1;
    }
    return memory_read(at, ret, sizeof *ret) == sizeof *ret;
}

static void read_nearby(uintptr_t innermost) {
    uintptr_t before = sizeof nearby.bytes - sizeof(_PyInterpreterFrame);
    nearby.start = innermost - before;
    size_t got = memory_read(nearby.start, nearby.bytes, sizeof nearby.bytes);
    nearby.start = got == sizeof nearby.bytes ? nearby.start : UINTPTR_MAX / 2; // the chunk begins later
}

// Whether a code object is there; asked once for each.
static int is_code(const PyCodeObject *code) {
    static const PyCodeObject *known[64];
    const PyCodeObject **of = &known[((uintptr_t)code >> 5) % 64];
    uintptr_t head[2];
    if (*of != code && memory_read((uintptr_t)code, head, sizeof head) == sizeof head &&
        (PyTypeObject *)head[1] == &PyCode_Type) {
        *of = code;
    }
    return code && *of == code;
}

// The main thread's frames, from outside: each word may change meanwhile.
static void add_beside(growth_site *site) {
    uintptr_t at = main_thread ? (uintptr_t)compat_thread_frame(main_thread) : 0;
    _PyInterpreterFrame frame;
    site->is_beside = 1;
    read_nearby(at);
    for (int depth = 0; at && depth < 2 * GROWTH_PYTHON_FRAMES && read_frame(at, &frame); depth++) {
        PyCodeObject *code = (PyCodeObject *)compat_frame_code_word(&frame);
        if (site->python_count < GROWTH_PYTHON_FRAMES && is_code(code)) {
            add_python(site, code, (void *)compat_frame_instruction(&frame));
        }
        at = (uintptr_t)frame.previous;
    }
}

static _Unwind_Reason_Code step(struct _Unwind_Context *frame, void *into) {
    growth_site *site = into;
    uintptr_t at = _Unwind_GetIP(frame);
    if (is_inside(at, own_text)) {
        return site->native_count ? _URC_END_OF_STACK : _URC_NO_REASON;
    }
    if (!at || is_inside(at, interpreter) || site->native_count == GROWTH_NATIVE_FRAMES) {
        return _URC_END_OF_STACK;
    }
    site->native[site->native_count++] = at;
    mix(site, (uint64_t)at);
    return _URC_NO_REASON;
}

static uint32_t number_of(growth_site *found) {
    found->hash |= 1;
    for (uint32_t tried = 0; tried < TRIED; tried++) {
        uint32_t number = (uint32_t)((found->hash >> 32) + tried) % GROWTH_SITES;
        growth_site *site = &sites[number];
        if (number && site->hash == found->hash) {
            return number;
        }
        if (number && !site->hash) {
            for (int i = 0; !found->is_borrowed && i < found->python_count; i++) {
                Py_INCREF(found->codes[i]);
            }
            *site = *found;
            sites_used = 1;
            return number;
        }
    }
    return 0;
}

uint32_t growth_site_here(const void *frame, int function) {
    growth_site found = {.hash = MIX};
    PyThreadState *own = PyGILState_GetThisThreadState();
    found.is_borrowed = (uint8_t)(growth_borrows || !running_has_gil());
    if (own && own->interp == running_main) {
        add_own(&found, own);
    }
    if (!found.python_count && (!own || own->interp == running_main)) { // of C, called back or not
        add_beside(&found);
    }
    uint64_t path = (found.hash ^ (uintptr_t)frame ^ (uint64_t)function << 56) * MIX | 1;
    uint32_t at = (uint32_t)(path >> 40) % PATHS;
    if (paths[at].hash != path) {
        _Unwind_Backtrace(step, &found);
        paths[at].hash = path;
        paths[at].site = number_of(&found);
    }
    return paths[at].site;
}

const growth_site *growth_site_of(uint32_t number) {
    return number && number < GROWTH_SITES && sites[number].hash ? &sites[number] : NULL;
}

int growth_sites_init(void) {
    growth_sites_deinit();
    main_thread = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
    while (main_thread && PyThreadState_Next(main_thread)) { // the oldest is the last
        main_thread = PyThreadState_Next(main_thread);
    }
    return !running_is_ours() ? error_set(PyExc_RuntimeError,
                                          "patches are process-wide: only the main interpreter arms them")
           : stacks_text_of((void *)growth_sites_init, &own_text) < 0 ||
                   stacks_text_of((void *)PyObject_Call, &interpreter) < 0
               ? -1
               : 0;
}

void growth_sites_deinit(void) {
    for (uint32_t number = 1; sites_used && number < GROWTH_SITES; number++) {
        growth_site *site = &sites[number];
        for (int i = 0; site->hash && !site->is_borrowed && i < site->python_count; i++) {
            Py_DECREF(site->codes[i]);
        }
        site->hash = 0;
    }
    sites_used = 0;
    memset(paths, 0, sizeof paths);
}
