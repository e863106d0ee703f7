"""One number or text that C does not get as it was: what the trace says, beside what C gives back."""

# SPDX-License-Identifier: MIT
import ctypes
import sys
from types import ModuleType
from typing import Any

import pytest

import inspector
from inspector.facts.conversion import Loss
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]
SOURCE = """
#include <Python.h>
static PyObject *masked(PyObject *self, PyObject *args) {
    unsigned int wide;
    unsigned short narrow;
    return PyArg_ParseTuple(args, "IH", &wide, &narrow) ? Py_BuildValue("kk", (long)wide, (long)narrow)
                                                         : NULL;
}
static PyObject *single(PyObject *self, PyObject *args) {
    float number;
    return PyArg_ParseTuple(args, "f", &number) ? PyFloat_FromDouble(number) : NULL;
}
static PyObject *inner(PyObject *self, PyObject *args) {
    unsigned int first, second;
    return PyArg_ParseTuple(args, "(I)I", &first, &second) ? PyLong_FromLong(first + second) : NULL;
}
static PyObject *real(PyObject *self, PyObject *object) {
    double number = PyFloat_AsDouble(object);
    return number == -1 && PyErr_Occurred() ? NULL : PyFloat_FromDouble(number);
}
static PyObject *text(PyObject *self, PyObject *object) {
    const char *start = PyUnicode_AsUTF8(object);
    return start ? PyUnicode_FromString(start) : NULL;
}
static PyObject *unsized(PyObject *self, PyObject *object) {
    const char *start = PyUnicode_AsUTF8AndSize(object, NULL); // of the limited API
    return start ? PyUnicode_FromString(start) : NULL;
}
static PyObject *sized(PyObject *self, PyObject *object) {
    Py_ssize_t bytes;
    const char *start = PyUnicode_AsUTF8AndSize(object, &bytes);
    return start ? PyUnicode_FromStringAndSize(start, bytes) : NULL;
}
static PyObject *mask(PyObject *self, PyObject *object) {
    unsigned long number = PyLong_AsUnsignedLongMask(object);
    return PyErr_Occurred() ? NULL : PyLong_FromLong((long)number);
}
"""
LIBC = ctypes.CDLL(None)


@pytest.fixture
def losing(specimens: ModuleType) -> Any:
    return specimens.build("losing_x", SOURCE)


def lost(t: Any) -> list[tuple[str, str, str, str]]:
    assert not isinstance(t.losses, Unknown)
    return [(one.rule, one.function, one.before, one.after) for one in t.losses]


CASES = {
    "unsigned int of 2**40": ("masked", (2**40, 5), 0, "overflow", "PyArg_ParseTuple"),
    "unsigned short of -1": ("masked", (5, -1), 1, "sign", "PyArg_ParseTuple"),
    "float of 0.1": ("single", (0.1,), None, "precision", "PyArg_ParseTuple"),
    "double of 2**53 + 1": ("real", (2**53 + 1,), None, "precision", "PyFloat_AsDouble"),
    "double of -2**63 + 1": ("real", (-(2**63) + 1,), None, "precision", "PyFloat_AsDouble"),
    "a NUL in a text": ("text", ("a\0b",), None, "embedded NUL", "PyUnicode_AsUTF8"),
    "a NUL, no size": ("unsized", ("a\0b",), None, "embedded NUL", "PyUnicode_AsUTF8AndSize"),
}


@pytest.mark.filterwarnings("ignore:integer value out of range:DeprecationWarning")  # of 3.15
@pytest.mark.parametrize("case", CASES)
def test_what_c_got_is_what_is_said(case: str, losing: Any) -> None:
    name, given, at, rule, function = CASES[case]
    with inspector.trace("losing_x") as t:
        result = vars(losing)[name](*given)
    got, before = (result, given[0]) if at is None else (result[at], given[at])
    assert got != before, "C does not have what Python gave"
    assert lost(t) == [(rule, function, repr(before), repr(got))]
    (one,) = t.losses
    assert (one.lost, one.times, one.confidence, one.site.file) == (1, 1, "certain", __file__)


def test_ints_of_more_than_64_bits_also_in_a_saved_trace(losing: Any, tmp_path: Any) -> None:
    with inspector.trace("losing_x", out=tmp_path / "t.trace") as t:
        cut, near = losing.mask(2**70), losing.real(2**100 + 1)
    assert (cut, near) == (0, float(2**100))
    assert lost(t) == [
        ("overflow", "PyLong_AsUnsignedLongMask", "an int of 71 bits", "0"),
        ("precision", "PyFloat_AsDouble", "an int of 101 bits", repr(near)),
    ]
    again: Any = inspector.load(tmp_path / "t.trace")
    assert lost(again) == lost(t) and all(isinstance(one, Loss) for one in again.losses)


def test_what_is_kept_is_no_loss(losing: Any) -> None:
    """A mask of -1 is read with its sign; powers of two are exact, and an inner tuple has no numbers."""
    with inspector.trace("losing_x") as t:
        assert [losing.mask(one) for one in (-1, 2**63 - 1)] == [-1, 2**63 - 1]
        assert losing.masked(2**32 - 1, 65535) == (2**32 - 1, 65535)
        assert [losing.real(one) for one in (2**60, 0.1)] == [2**60, 0.1]
        assert (losing.single(0.5), losing.inner((3,), 4)) == (0.5, 7)
        assert [losing.text(one) for one in ("ab", "\u00e4\U0001f600")] == ["ab", "\u00e4\U0001f600"]
        assert [losing.unsized(one) for one in ("ab", "")] == ["ab", ""]
        assert [losing.sized(one) for one in ("a\0b", "")] == ["a\0b", ""]
        with pytest.raises(TypeError):
            losing.real("1")
        with pytest.raises(OverflowError):
            losing.real(1 << 5000)
    assert lost(t) == []


def test_like_losses_of_one_line_are_one(losing: Any) -> None:
    with inspector.trace("losing_x") as t:
        for _ in range(5):
            losing.real(2**53 + 1)
    assert [one.times for one in t.losses] == [5]
    assert "in 5 calls" in t.tree()


def test_ctypes_stores_ints_in_narrower_words() -> None:
    labs = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)(("labs", LIBC))
    unsigned = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_uint)(("labs", LIBC))
    with inspector.trace("ctypes") as t:
        assert LIBC.toupper(2**32 + 97) == ord("A")
        assert LIBC.abs(-5) == 5
        assert labs(-5) == 5
        assert labs(2**40) == 2**40
        assert unsigned(-1) == 2**32 - 1
    told = [("toupper", "overflow", str(2**32 + 97), "97"), ("labs", "sign", "-1", str(2**32 - 1))]
    if sys.version_info >= (3, 14):  # ctypes asks for four bytes there, and does not say of which sign
        del told[1]
    functions = [one.function.rpartition(":")[2] for one in t.losses]
    assert [(name, one[0], *one[2:]) for name, one in zip(functions, lost(t), strict=True)] == told


def test_an_address_that_was_read_before_is_no_bool_of_a_call() -> None:
    truth = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_bool)(("abs", LIBC))
    address = ctypes.c_ulong(0)
    with inspector.trace("ctypes") as t:
        address.value = 0x7F0000001000
        truth(False)
        assert LIBC.toupper(2**32 + 97) == ord("A")
    assert [(one.before, one.after) for one in t.losses] == [(str(2**32 + 97), "97")]
