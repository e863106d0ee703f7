// What the extension was built with, and whether the running interpreter is laid out as its headers said.
//
// Parts read the interpreter's own structures (module/compat_internals.h), which a release of the same minor
// version may change: 3.14 changed its collector after its first releases. From 3.13 on the interpreter says
// how it is laid out (_Py_DebugOffsets). Where sizes or places differ, the import is refused in one sentence,
// for a walk with wrong offsets ends in a crash or in a wrong number. 3.11 and 3.12 say nothing; their
// releases did not change what is read. A kernel with other pages, of 16 or 64 kB on aarch64, is refused too:
// resident memory would be counted wrong.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "module/native.h"
#include "module/platform.h"

#ifdef __clang__
#define COMPILER "Clang " Py_STRINGIFY(__clang_major__) "." Py_STRINGIFY(__clang_minor__)
#else
#define COMPILER "GCC " Py_STRINGIFY(__GNUC__) "." Py_STRINGIFY(__GNUC_MINOR__)
#endif
#ifdef __GLIBC__
#define C_LIBRARY "glibc " Py_STRINGIFY(__GLIBC__) "." Py_STRINGIFY(__GLIBC_MINOR__)
#else
#define C_LIBRARY "musl"
#endif

#if COMPAT_SAYS_LAYOUT
enum { JIT_BYTES = 64 }; // the last thing in it, its first thread's state, is longer in a build with a JIT

static int is_laid_out_otherwise(void) {
    const _PyRuntimeState *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime"); // borrowed
    if (!runtime) {
        return 0; // it hides its symbols
    }
    const uint64_t told[][2] = {
        {runtime->debug_offsets.interpreter_state.imports_modules,
         offsetof(PyInterpreterState, imports.modules)},
        {runtime->debug_offsets.interpreter_state.ceval_gil, offsetof(PyInterpreterState, ceval.gil)},
        {runtime->debug_offsets.interpreter_state.gc, offsetof(PyInterpreterState, gc)},
        {runtime->debug_offsets.gc.size, sizeof(struct _gc_runtime_state)},
        {runtime->debug_offsets.thread_state.size, sizeof(PyThreadState)},
        {runtime->debug_offsets.thread_state.current_frame, offsetof(PyThreadState, current_frame)},
        {runtime->debug_offsets.interpreter_frame.size, sizeof(_PyInterpreterFrame)},
        {runtime->debug_offsets.interpreter_frame.localsplus, offsetof(_PyInterpreterFrame, localsplus)},
    };
    uint64_t bytes = runtime->debug_offsets.interpreter_state.size;
    int is_other =
        bytes > sizeof(PyInterpreterState) + JIT_BYTES || bytes + JIT_BYTES < sizeof(PyInterpreterState);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        is_other |= told[i][0] != told[i][1];
    }
    return is_other;
}
#else
static int is_laid_out_otherwise(void) { return 0; }
#endif

enum { PAGE_BYTES = 4096 }; // of every room that counts pages or walks a heap by them

int build_exec(PyObject *module) {
    long page_bytes = sysconf(_SC_PAGESIZE);
    if (page_bytes != PAGE_BYTES) {
        return error_set(
            PyExc_ImportError,
            "inspector._native counts memory in pages of 4096 bytes, and this kernel's pages have "
            "%ld: use a kernel with pages of 4096 bytes; saved reports open here",
            page_bytes);
    }
    if (is_laid_out_otherwise()) {
        return error_set(PyExc_ImportError,
                         "inspector._native was built for CPython " PY_VERSION
                         ", and the running %.20s is laid out differently: build it here, by "
                         "`pip install --no-binary native-inspector native-inspector`",
                         Py_GetVersion());
    }
    return PyModule_AddStringConstant(module, "BUILD", "CPython " PY_VERSION ", " COMPILER ", " C_LIBRARY);
}
