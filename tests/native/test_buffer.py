"""The C of buffers and protocols: exporters that lie, refuse or leave things out."""

# SPDX-License-Identifier: MIT
import array
import ctypes
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from events import capsule

from inspector import _native

pytestmark = [pytest.mark.core, pytest.mark.quick]

EXPORTER = r"""
#include <Python.h>
static Py_ssize_t shape[2] = {2, 3}, strides[2] = {3, 1};
static char content[6] = "abcdef";
static int wrong = 0, taken = 0;
static int get(PyObject *self, Py_buffer *view, int flags) {
    if (wrong == 1) { PyErr_SetString(PyExc_BufferError, "closed today"); return -1; }
    *view = (Py_buffer){
        .buf = content, .obj = Py_NewRef(self), .len = 6, .itemsize = 1, .ndim = 2, .readonly = 1,
        .format = "b", .shape = shape, .strides = strides};
    if (wrong == 2) view->shape = (Py_ssize_t *)16;
    if (wrong == 3) view->ndim = 1 << 20;
    if (wrong == 4) view->format = (char *)16;
    if (wrong == 5) { view->strides = NULL; view->format = NULL; }
    if (wrong == 6) { view->ndim = -1; }
    taken++;
    return 0;
}
static void release(PyObject *self, Py_buffer *view) { taken--; }
static PyBufferProcs procs = {get, release};
static PyTypeObject Exporter_type = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "exporter.Exporter", .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_as_buffer = &procs, .tp_new = PyType_GenericNew};
static PyObject *go_wrong(PyObject *self, PyObject *n) { wrong = (int)PyLong_AsLong(n); Py_RETURN_NONE; }
static PyObject *count(PyObject *self, PyObject *unused) { return PyLong_FromLong(taken); }
"""


@pytest.fixture(scope="module")
def exporter(specimens: ModuleType) -> Any:
    return specimens.build("exporter", EXPORTER)


def test_an_honest_exporter(exporter: Any) -> None:
    exporter.go_wrong(0)
    address, size, itemsize, *rest = _native.ask_buffer(exporter.Exporter())
    assert (size, itemsize, ctypes.string_at(address, 6)) == (6, 1, b"abcdef")
    assert rest == ["b", (2, 3), (3, 1), True, False, "exporter.Exporter"]


def test_one_that_leaves_strides_and_format_out(exporter: Any) -> None:
    exporter.go_wrong(5)
    assert _native.ask_buffer(exporter.Exporter())[3:6] == ("B", (2, 3), (3, 1))


@pytest.mark.parametrize(
    ("wrong", "said"), [(1, "closed"), (2, "read"), (3, "dimensions"), (4, "read"), (6, "-1")]
)
def test_liars_are_errors_and_are_released(exporter: Any, wrong: int, said: str) -> None:
    exporter.go_wrong(wrong)
    with pytest.raises((ValueError, BufferError), match=said):
        _native.ask_buffer(exporter.Exporter())
    assert exporter.count() == 0


def test_who_speaks_is_read_from_the_type() -> None:
    spoken = {kind: _native.speaks_buffer(kind) for kind in (bytes, np.ndarray, str, list, object)}
    assert spoken == {bytes: True, np.ndarray: True, str: False, list: False, object: False}
    with pytest.raises(TypeError):
        _native.speaks_buffer(b"")  # type: ignore[arg-type]


def test_struct_readers_refuse_other_types() -> None:
    for x in (5, b"", [], type("bytearray", (), {})()):
        with pytest.raises(TypeError):
            _native.exports(x)
        with pytest.raises(TypeError):
            _native.ndarray_fields(x, np.ndarray)
    with pytest.raises(TypeError):
        _native.ndarray_fields(5, int)
    assert _native.exports(array.array("d")) == 0


def test_capsules_are_read_and_not_consumed() -> None:
    x = np.arange(6, dtype="i4").reshape(2, 3)
    given = x.__dlpack__()
    for _ in range(2):
        address, shape, strides, itemsize, code, bits, device, _, readonly = _native.dlpack(given)
        assert (address, shape, itemsize, code, bits, device) == (x.ctypes.data, (2, 3), 4, 0, 32, 1)
        assert strides in ((12, 4), None) and readonly is False
    assert np.from_dlpack(x).base is not None
    found = _native.array_struct(x.__array_struct__)
    assert found[:5] == (x.ctypes.data, (2, 3), (12, 4), 4, "i")


def test_wrong_capsules() -> None:
    for read, name in ((_native.dlpack, b"dltensor"), (_native.dlpack, b"dltensor_versioned")):
        with pytest.raises(ValueError, match="read"):
            read(capsule(16, name))
    with pytest.raises(ValueError, match="read"):
        _native.array_struct(capsule(16))
    zeros = ctypes.create_string_buffer(256)
    with pytest.raises(ValueError, match="not 2"):
        _native.array_struct(capsule(ctypes.addressof(zeros)))
    many = ctypes.create_string_buffer(b"\xff" * 256)
    with pytest.raises(ValueError, match="dimensions"):
        _native.dlpack(capsule(ctypes.addressof(many), b"dltensor"))
    with pytest.raises(ValueError, match="arrow_schema"):
        _native.arrow(5, 5)


class ArrowSchema(ctypes.Structure):
    _fields_ = (("format", ctypes.c_char_p), ("rest", ctypes.c_void_p * 8))


class ArrowArray(ctypes.Structure):
    _fields_ = (("numbers", ctypes.c_int64 * 5), ("buffers", ctypes.c_void_p), ("rest", ctypes.c_void_p * 4))


def test_an_arrow_array() -> None:
    content = (ctypes.c_double * 4)(1, 2, 3, 4)
    pointers = (ctypes.c_void_p * 2)(0, ctypes.addressof(content))
    schema = ArrowSchema(b"g")
    array_ = ArrowArray((3, 0, 1, 2, 0), ctypes.addressof(pointers))
    named = {b"arrow_schema": schema, b"arrow_array": array_}
    given = [capsule(ctypes.addressof(it), name) for name, it in named.items()]
    assert _native.arrow(*given) == ("g", 3, 0, 1, (0, ctypes.addressof(content)))
    array_.numbers[3] = 1 << 40
    with pytest.raises(ValueError, match="buffers"):
        _native.arrow(*given)


def test_the_fields_of_an_array_keep_nothing_of_what_they_name() -> None:
    view = np.arange(6.0)[::2]

    def counts() -> list[int]:
        return [sys.getrefcount(one) for one in (view.base, view.dtype, view)]

    before = counts()
    for _ in range(100):
        _native.ndarray_fields(view, np.ndarray)
    assert counts() == before
