"""The tables of object_layout.py are the headers': they are compiled here, on each Python that we run on."""

# SPDX-License-Identifier: MIT
import os
import sys

import pytest
import specimens

from inspector.debugger.attach import object_layout as at
from inspector.debugger.memory.debug_offsets import debug_offsets
from inspector.debugger.memory.python_layout import layout
from inspector.debugger.memory.remote_memory import RemoteMemory
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]

OFFSETS = r"""
#define Py_BUILD_CORE 1
#define Py_BUILD_CORE_MODULE 1
#include <Python.h>
#include <internal/pycore_runtime.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_dict.h>
#include <internal/pycore_gc.h>
#include <stddef.h>
#if PY_MINOR_VERSION == 11
#define MODULES offsetof(PyInterpreterState, modules)
#define CODE offsetof(_PyInterpreterFrame, f_code)
#define LOCK offsetof(_PyRuntimeState, ceval.gil)
#elif PY_MINOR_VERSION == 12
#define MODULES offsetof(PyInterpreterState, imports.modules)
#define CODE offsetof(_PyInterpreterFrame, f_code)
#else
#define MODULES offsetof(PyInterpreterState, imports.modules)
#define CODE offsetof(_PyInterpreterFrame, f_executable)
#endif
#ifndef LOCK
#define LOCK offsetof(PyInterpreterState, ceval.gil)
#endif
static PyObject *version(PyObject *self, PyObject *unused) {
    size_t rows[] = {PY_MINOR_VERSION, MODULES, offsetof(PyInterpreterState, gc),
                     offsetof(PyGenObject, gi_iframe), CODE, offsetof(_PyInterpreterFrame, localsplus),
                     offsetof(PyCodeObject, co_nlocalsplus), offsetof(PyCodeObject, co_stacksize),
                     offsetof(PyHeapTypeObject, ht_cached_keys), offsetof(PyDictValues, values),
                     LOCK, offsetof(_PyRuntimeState, main_thread)};
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PyList_Append(list, PyLong_FromSize_t(rows[i]));
    }
    return list;
}
#define SAME(name, type, field) {name, offsetof(type, field)}
static PyObject *same(PyObject *self, PyObject *unused) {
    struct { const char *name; size_t offset; } rows[] = {
        SAME("LOCK_HOLDER", struct _gil_runtime_state, last_holder),
        SAME("LOCKED", struct _gil_runtime_state, locked),
        SAME("LOCK_CONDITION", struct _gil_runtime_state, cond),
        SAME("CODE_EXCEPTIONS", PyCodeObject, co_exceptiontable),
        SAME("CODE_NAMES", PyCodeObject, co_localsplusnames),
        SAME("TYPE_BASE_SIZE", PyTypeObject, tp_basicsize), SAME("TYPE_FLAGS", PyTypeObject, tp_flags),
        SAME("TYPE_MEMBERS", PyTypeObject, tp_members), SAME("TYPE_DICT", PyTypeObject, tp_dict),
        SAME("TYPE_DICT_OFFSET", PyTypeObject, tp_dictoffset), SAME("TYPE_MRO", PyTypeObject, tp_mro),
        SAME("DICT_USED", PyDictObject, ma_used), SAME("DICT_KEYS", PyDictObject, ma_keys),
        SAME("DICT_VALUES", PyDictObject, ma_values), SAME("KEYS_HEAD", PyDictKeysObject, dk_indices)};
    PyObject *dict = PyDict_New();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PyDict_SetItemString(dict, rows[i].name, PyLong_FromSize_t(rows[i].offset));
    }
    return dict;
}
#if PY_MINOR_VERSION >= 14
#include <internal/pycore_interpframe_structs.h>
#endif
static PyObject *runtime(PyObject *self, PyObject *unused) { return PyLong_FromVoidPtr(&_PyRuntime); }
#if PY_MINOR_VERSION >= 13
#define DESCRIBED(section, name, type, field) {#section "." #name, offsetof(type, field)}
static PyObject *described(PyObject *self, PyObject *unused) {
    struct { const char *name; size_t offset; } rows[] = {
        DESCRIBED(runtime_state, interpreters_head, _PyRuntimeState, interpreters.head),
        DESCRIBED(interpreter_state, next, PyInterpreterState, next),
        DESCRIBED(interpreter_state, threads_head, PyInterpreterState, threads.head),
        DESCRIBED(interpreter_state, gc, PyInterpreterState, gc),
        DESCRIBED(interpreter_state, imports_modules, PyInterpreterState, imports.modules),
        DESCRIBED(interpreter_state, ceval_gil, PyInterpreterState, ceval.gil),
        DESCRIBED(thread_state, next, PyThreadState, next),
        DESCRIBED(thread_state, current_frame, PyThreadState, current_frame),
        DESCRIBED(thread_state, native_thread_id, PyThreadState, native_thread_id),
        DESCRIBED(interpreter_frame, previous, _PyInterpreterFrame, previous),
        DESCRIBED(interpreter_frame, executable, _PyInterpreterFrame, f_executable),
        DESCRIBED(interpreter_frame, instr_ptr, _PyInterpreterFrame, instr_ptr),
        DESCRIBED(interpreter_frame, localsplus, _PyInterpreterFrame, localsplus),
        DESCRIBED(interpreter_frame, owner, _PyInterpreterFrame, owner),
        DESCRIBED(code_object, filename, PyCodeObject, co_filename),
        DESCRIBED(code_object, qualname, PyCodeObject, co_qualname),
        DESCRIBED(code_object, linetable, PyCodeObject, co_linetable),
        DESCRIBED(code_object, firstlineno, PyCodeObject, co_firstlineno),
        DESCRIBED(code_object, co_code_adaptive, PyCodeObject, co_code_adaptive)};
    PyObject *dict = PyDict_New();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PyDict_SetItemString(dict, rows[i].name, PyLong_FromSize_t(rows[i].offset));
    }
    return dict;
}
#else
static PyObject *described(PyObject *self, PyObject *unused) { return PyDict_New(); }
#endif
static PyObject *items(PyObject *self, PyObject *unused) {
    return PyLong_FromSize_t(offsetof(PyTupleObject, ob_item));
}
static PyObject *lists(PyObject *self, PyObject *unused) {
#if PY_MINOR_VERSION == 14 // some 3.14.x have one young and two old lists, in the same places
    size_t first = offsetof(struct _gc_runtime_state, debug) + 2 * sizeof(int);
#else
    size_t first = offsetof(struct _gc_runtime_state, generations);
#endif
    size_t step = sizeof(struct gc_generation);
    return Py_BuildValue("(nnnn)", first, first + step, first + 2 * step,
                         offsetof(struct _gc_runtime_state, permanent_generation));
}
"""


def test_the_tables_are_those_of_the_headers() -> None:
    offsets = specimens.build("offsets", OFFSETS, flags=("-Wno-unused-function",))
    known = at.LAYOUTS[sys.version_info[:2]]
    assert (*offsets.version(), offsets.lists(), offsets.items()) == tuple(known)
    assert offsets.same() == {name: getattr(at, name) for name in offsets.same()}


@pytest.mark.skipif(
    sys.version_info < (3, 13), reason="not on CPython 3.11 and 3.12: they do not describe themselves"
)
def test_what_python_says_of_itself_is_what_its_headers_say() -> None:
    """A word that a version adds in the middle would shift all names behind it."""
    offsets = specimens.build("offsets", OFFSETS, flags=("-Wno-unused-function",))
    memory = RemoteMemory(os.getpid())
    words = debug_offsets(memory, offsets.runtime(), sys.version_info[:2])
    assert words["version"] == sys.hexversion
    assert offsets.described() == {name: words[name] for name in offsets.described()}


def test_of_an_unknown_version_nothing_is_read() -> None:
    offsets = specimens.build("offsets", OFFSETS, flags=("-Wno-unused-function",))
    found = layout(RemoteMemory(os.getpid()), offsets.runtime(), 0x03630000)
    assert found == Unknown("no layout is known for Python 3.99: native frames only")
