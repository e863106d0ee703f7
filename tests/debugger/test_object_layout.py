"""The tables of object_layout.py are the headers': they are compiled here, on each Python that we run on."""

# SPDX-License-Identifier: MIT
import sys

import pytest
import specimens

from inspector.debugger.attach import object_layout as at

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
                     offsetof(PyGenObject, gi_iframe),
                     CODE, offsetof(PyCodeObject, co_nlocalsplus), offsetof(PyCodeObject, co_stacksize),
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
        SAME("FRAME_VARIABLES", _PyInterpreterFrame, localsplus),
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
static PyObject *lists(PyObject *self, PyObject *unused) {
    size_t first = offsetof(struct _gc_runtime_state, generations), step = sizeof(struct gc_generation);
    return Py_BuildValue("(nnnn)", first, first + step, first + 2 * step,
                         offsetof(struct _gc_runtime_state, permanent_generation));
}
"""


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="not on CPython 3.14: attach reads 3.11 to 3.13")
def test_the_tables_are_those_of_the_headers() -> None:
    offsets = specimens.build("offsets", OFFSETS, flags=("-Wno-unused-function",))
    assert tuple(offsets.version()) == tuple(at.LAYOUTS[sys.version_info[:2]])
    assert offsets.same() == {name: getattr(at, name) for name in offsets.same()}
    assert offsets.lists() == at.GENERATIONS
