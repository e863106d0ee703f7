"""Patched function pointers: every calling convention, what is recorded, and the bytes put back."""

# SPDX-License-Identifier: MIT
import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import events
import pytest
from threads import repeating

from inspector import _native

pytestmark = [pytest.mark.core, pytest.mark.quick]

SOURCE = r"""
#define PY_SSIZE_T_CLEAN
#include <Python.h>
static PyObject *varargs(PyObject *self, PyObject *args) {
    int x, y;
    return PyArg_ParseTuple(args, "ii", &x, &y) ? PyLong_FromLong(x * 100 + y) : NULL;
}
static PyObject *keywords(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"x", "y", NULL};
    int x, y = 7;
    int read = PyArg_ParseTupleAndKeywords(args, kwargs, "i|i", names, &x, &y);
    return read ? PyLong_FromLong(x * 100 + y) : NULL;
}
static PyObject *fast(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    return PyLong_FromSsize_t(count);
}
static PyObject *fast_names(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    return Py_BuildValue("nn", count, names ? PyTuple_GET_SIZE(names) : 0);
}
static PyObject *noargs(PyObject *self, PyObject *unused) { Py_RETURN_NONE; }
static PyObject *one(PyObject *self, PyObject *argument) { Py_INCREF(argument); return argument; }
static PyObject *with_class(PyObject *one, PyTypeObject *cls, PyObject *const *args, Py_ssize_t count,
                            PyObject *names) {
    return Py_BuildValue("On", cls, count);
}
static PyObject *of_class(PyObject *cls, PyObject *ignored) { Py_INCREF(cls); return cls; }
static PyMethodDef of_type[] = {
    {"with_class", (PyCFunction)(void *)with_class, METH_METHOD | METH_FASTCALL | METH_KEYWORDS, NULL},
    {"of_class", of_class, METH_NOARGS | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_methods, of_type}, {0, NULL}};
static PyType_Spec Type_type = {"callee.Type", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
"""

METHODS = ("varargs", "keywords", "fast", "fast_names", "noargs", "one")
KIND = {name: number for name, number, _ in _native.EVENT_KINDS}


@pytest.fixture
def callee(specimens: ModuleType) -> Any:
    return specimens.build("callee", SOURCE)


@contextmanager
def recorded(callables: list[Any]) -> Iterator[tuple[list[int], list[dict[str, int]]]]:
    """Hook the callables; the list is filled with the records when the block is over."""
    found: list[dict[str, int]] = []
    numbers = _native.methods_arm(callables)
    _native.ring_begin("", 4096, "last", 1, 0, 1 << 26, -1)
    _native.calls_open(True)
    try:
        yield numbers, found
    finally:
        _native.calls_open(False)
        _native.calls_disarm()
        found += [event._asdict() for ring in _native.ring_end()[0] for event in events.decode(ring[-1])]
        _native.interned_clear()


def use(callee: Any) -> list[object]:
    """Every convention, also through specialised opcodes."""
    made: list[object] = []
    for _ in range(20):
        made = [callee.varargs(1, 2), callee.keywords(3), callee.keywords(3, y=4), callee.fast(1, 2, 3)]
        made += [callee.fast_names(1, b=2, c=3), callee.noargs(), callee.one("x")]
        made += [callee.Type.of_class(), callee.Type().with_class(1, 2)]
    return made


def test_every_convention_gives_what_it_gave(callee: Any) -> None:
    expected = use(callee)
    kind = vars(callee.Type)
    chosen = [getattr(callee, name) for name in METHODS] + [kind["with_class"], kind["of_class"]]
    with recorded(chosen) as (numbers, found):
        assert min(numbers) >= 0
        assert use(callee) == expected
    calls = [row for row in found if row["kind"] == KIND["METHOD"]]
    assert len(calls) == 20 * len(expected)
    assert {row["slot"] for row in calls} == set(numbers)
    assert use(callee) == expected


def test_arguments_and_results_are_read(callee: Any) -> None:
    with recorded([callee.one, callee.keywords]) as (_, found):
        callee.one(b"twelve bytes")
        callee.keywords(3, y=4)
    values = [(chr(row["func"]), row["aux"]) for row in found if row["kind"] == KIND["VALUE"]]
    assert values == [("y", 12), ("y", 12)]
    (plain,) = (row for row in found if row["kind"] == KIND["PLAIN"])
    letters, numbers = (plain[field].to_bytes(4, "little") for field in ("refs", "lasti"))
    assert (plain["func"], letters, numbers) == (3, b"iii\0", bytes([1, 2, 128, 0]))
    assert [plain[word] for word in ("start", "obj", "val", "aux")] == [3, 4, 304, 0]
    given, made = (row for row in found if row["kind"] == KIND["SPAN"])
    assert (given["val"], given["aux"]) == (made["val"], 12)
    assert made["flags"] & events.FLAGS["OUTPUT"] and not given["flags"] & events.FLAGS["OUTPUT"]


def test_an_exception_passes_and_is_flagged(callee: Any) -> None:
    with recorded([callee.varargs]) as (_, found), pytest.raises(TypeError, match="integer"):
        callee.varargs("a", "b")
    assert found[0]["flags"] & events.FLAGS["ERROR"]


def row_of(function: Any) -> int:
    """Address of the PyMethodDef behind a builtin function: m_ml, the first field after the object's head."""
    return ctypes.c_uint64.from_address(id(function) + 16).value


def row_bytes(function: Any) -> bytes:
    return ctypes.string_at(row_of(function), 32)


def test_bytes_and_references_are_put_back(callee: Any) -> None:
    before, count = row_bytes(callee.one), sys.getrefcount(callee.one)
    numbers = _native.methods_arm([callee.one])
    assert row_bytes(callee.one) != before
    assert _native.methods_arm([callee.one]) == numbers
    assert (_native.calls_armed(), _native.calls_disarm()) == (1, (1, 0))
    assert (row_bytes(callee.one), sys.getrefcount(callee.one)) == (before, count)
    assert _native.methods_arm([callee.one]) == numbers
    _native.calls_disarm()


def test_a_pointer_written_by_somebody_else_is_left_alone(callee: Any) -> None:
    place = ctypes.c_void_p.from_address(row_of(callee.noargs) + 8)
    original = place.value
    _native.methods_arm([callee.noargs])
    place.value = original
    assert _native.calls_disarm() == (0, 1)
    assert place.value == original


def test_python_functions_and_classes_have_no_pointer_to_replace() -> None:
    class Own:
        pass

    assert _native.methods_arm([use, sys.getsizeof.__call__, 7, Own, type, object]) == [-3] * 6
    assert _native.calls_armed() == 0


def test_threads_call_while_hooks_come_and_go(callee: Any) -> None:
    wrong: list[object] = []

    def work() -> None:
        if callee.one(5) != 5 or callee.varargs(1, 2) != 102:
            wrong.append(1)

    _native.ring_begin("", 64, "last", 1, 0, 1 << 26, -1)
    _native.calls_open(True)
    try:
        with repeating(4, work):
            for _ in range(50):
                _native.methods_arm([callee.one, callee.varargs])
                _native.calls_disarm()
    finally:
        _native.calls_open(False)
        _native.ring_end()
        _native.interned_clear()
    assert not wrong


def test_a_type_without_a_vectorcall_is_called_as_before() -> None:
    (number,) = _native.methods_arm([bytearray])
    _native.calls_disarm()
    with recorded([bytearray, bytes, memoryview]) as (numbers, found):
        assert number == numbers[0] >= 0
        made = [bytearray(b"abc"), bytes("é", encoding="utf-8"), bytes(memoryview(b"xyz"))]
        with pytest.raises(TypeError, match="string argument without an encoding"):
            bytes("x")
    assert made == [bytearray(b"abc"), b"\xc3\xa9", b"xyz"]
    assert sum(row["kind"] == KIND["VECTORCALL"] for row in found) == 5
    for _ in range(50):  # the specialised opcode finds it empty again
        assert b"q" == b"q" and bytearray(2) == b"\0\0"
