"""What extensions ask of NumPy through its table: in the call tree, by module, in a storm of toggles."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any

import events
import numpy as np
import pytest
import specimens
from soak import rounds

import inspector
from inspector import _native
from inspector.facts.unknown import Unknown
from inspector.tracing.arm import numpy_table

pytestmark = pytest.mark.core

USER = r"""
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
static PyObject *doubles(PyObject *self, PyObject *x) {
    PyObject *made = PyArray_FROM_OTF(x, NPY_DOUBLE, NPY_ARRAY_IN_ARRAY);
    if (!made) { return NULL; }
    npy_intp count = PyArray_SIZE((PyArrayObject *)made);
    PyObject *result = PyArray_ZEROS(1, &count, NPY_DOUBLE, 0);
    Py_DECREF(made);
    return result;
}
static PyObject *returned(PyObject *self, PyObject *x) { // compiled to a jump
    Py_INCREF(x);
    return PyArray_Return((PyArrayObject *)x);
}
static PyObject *copied(PyObject *self, PyObject *x) {
    return PyArray_NewCopy((PyArrayObject *)x, NPY_CORDER);
}
static PyObject *as_doubles(PyObject *self, PyObject *x) {
    return PyArray_FROM_OTF(x, NPY_DOUBLE, NPY_ARRAY_IN_ARRAY);
}
static PyObject *turned(PyObject *self, PyObject *x) { return PyArray_Transpose((PyArrayObject *)x, NULL); }
static PyObject *flat(PyObject *self, PyObject *x) { return PyArray_Ravel((PyArrayObject *)x, NPY_CORDER); }
static PyObject *added(PyObject *self, PyObject *x) {
    return PyArray_Sum((PyArrayObject *)x, 0, NPY_NOTYPE, NULL);
}
static PyObject *joined(PyObject *self, PyObject *x) { return PyArray_Concatenate(x, 0); }
static PyObject *over(PyObject *self, PyObject *args) {
    PyObject *to, *from;
    if (!PyArg_ParseTuple(args, "OO", &to, &from) ||
        PyArray_CopyInto((PyArrayObject *)to, (PyArrayObject *)from) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}
static double kept[4];
static PyObject *around(PyObject *self, PyObject *unused) {
    npy_intp count = 4;
    return PyArray_SimpleNewFromData(1, &count, NPY_DOUBLE, kept);
}
static PyObject *fresh(PyObject *self, PyObject *unused) {
    npy_intp shape[2] = {3, 5};
    return PyArray_SimpleNew(2, shape, NPY_INT16);
}
"""


def built(name: str) -> Any:
    return specimens.build(name, USER, flags=(f"-I{np.get_include()}",))


@pytest.fixture(scope="module")
def user() -> Any:
    return built("numpy_user")


def asked(t: Any) -> list[tuple[str, str, int]]:
    """(function, who owns its result, how many failed) of NumPy's."""
    return [(c.function, c.result, c.failed) for c in t.conversions if c.function.startswith("PyArray_")]


def test_calls_through_the_table_stand_in_the_call_that_made_them(user: Any) -> None:
    with inspector.trace("numpy_user") as t:
        assert user.doubles([1, 2, 3]).tolist() == [0.0] * 3
    called = ("PyArray_DescrFromType", "PyArray_FromAny", "PyArray_Zeros")
    assert asked(t) == [(function, "new", 0) for function in called]
    (call,) = [call for call in t.calls if call.name == "numpy_user.doubles"]
    numpys = [c for c in call.conversions if c.function.startswith("PyArray_")]
    assert {c.module for c in numpys} == {"numpy_user"} and {c.depth for c in numpys} == {1}
    assert "PyArray_FromAny" in t.tree()


def bytes_of(t: Any, function: str) -> tuple[int, int, int]:
    """(made, copied, shared) of one function of NumPy's."""
    (one,) = [c for c in t.conversions if c.function == function]
    return one.made_bytes, one.copied_bytes, one.shared_bytes


def is_shared(x: Any, made: Any) -> bool:
    """Whether what is written to the source is seen in the result: a second method, which knows no trace."""
    before = made.copy()
    x += 1
    changed = not np.array_equal(made, before)
    x -= 1
    return bool(changed)


GRID = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("grade", ["record", "deep"])
@pytest.mark.parametrize(
    ("name", "function", "x"),
    [
        ("copied", "PyArray_NewCopy", GRID),
        ("copied", "PyArray_NewCopy", GRID.astype("c16")[::2]),
        ("as_doubles", "PyArray_FromAny", GRID),
        ("as_doubles", "PyArray_FromAny", GRID.astype("f4")),
        ("as_doubles", "PyArray_FromAny", GRID.T),
        ("turned", "PyArray_Transpose", GRID),
        ("flat", "PyArray_Ravel", GRID),
        ("flat", "PyArray_Ravel", GRID.T),
    ],
)
def test_bytes_that_a_call_copied_or_shared(user: Any, grade: Any, name: str, function: str, x: Any) -> None:
    x = x.copy(order="K")
    with inspector.trace("numpy_user", grade=grade) as t:
        made = getattr(user, name)(x)
    shared = is_shared(x, made)
    assert bytes_of(t, function) == ((0, 0, made.nbytes) if shared else (0, made.nbytes, 0))
    assert f"{'shared' if shared else 'copied'} {made.nbytes} B" in t.tree()


def test_bytes_that_a_call_made(user: Any) -> None:
    """Of nothing, of a list, by computing; around memory of the module's own; written into an array."""
    x, to = GRID.copy(), np.empty((3, 4), "f4")
    for name, given, function, told in (
        ("fresh", (), "PyArray_New", (30, 0, 0)),
        ("as_doubles", ([1, 2, 3],), "PyArray_FromAny", (24, 0, 0)),
        ("added", (x,), "PyArray_Sum", (32, 0, 0)),
        ("joined", ([x, x],), "PyArray_Concatenate", (0, 192, 0)),
        ("around", (), "PyArray_New", (0, 0, 32)),
        ("over", (to, x), "PyArray_CopyInto", (0, 48, 0)),
    ):
        with inspector.trace("numpy_user") as t:
            getattr(user, name)(*given)
        assert bytes_of(t, function) == told, name


@pytest.mark.libraries
def test_bytes_with_the_newest_and_the_oldest_numpy(user: Any) -> None:
    test_bytes_that_a_call_made(user)
    test_bytes_that_a_call_copied_or_shared(user, "record", "as_doubles", "PyArray_FromAny", GRID.T)


def test_bytes_of_like_calls_are_summed_and_saved(user: Any, tmp_path: Any) -> None:
    with inspector.trace("numpy_user", out=tmp_path / "t.trace") as t:
        for count in range(10):
            user.copied(GRID[:, : count % 4])
    assert bytes_of(t, "PyArray_NewCopy") == (0, sum(24 * (count % 4) for count in range(10)), 0)
    loaded: Any = inspector.load(tmp_path / "t.trace")
    assert loaded.fact == t.fact and asked(loaded) == asked(t) != []


def test_a_conversion_that_fails_says_so(user: Any) -> None:
    with inspector.trace("numpy_user", grade="deep") as t, pytest.raises(ValueError):
        user.doubles([[1], [2, 3]])
    assert asked(t) == [("PyArray_DescrFromType", "new", 0), ("PyArray_FromAny", "new", 1)]


def test_a_tail_call_is_shown_and_its_module_is_unknown(user: Any) -> None:
    array = np.arange(3.0)
    with inspector.trace("numpy_user") as t:
        assert user.returned(array) is array
    (one,) = [c for c in t.conversions if c.function == "PyArray_Return"]
    assert isinstance(one.module, Unknown) and "tail call" in one.module.reason


def test_a_module_that_was_not_chosen_is_not_shown(user: Any) -> None:
    other = built("numpy_other")
    with inspector.trace("numpy_user") as t:
        other.doubles([1])
        other.returned(np.arange(3.0))
    assert asked(t) == []


def test_calls_are_counted_by_module(user: Any) -> None:
    def counted() -> int:
        return sum(row[3] for row in _native.numpy_table_slots() if row[1] == user.__file__)

    before = counted()
    with inspector.trace("numpy_user", grade="count") as t:
        for _ in range(5):
            user.doubles([1])
    assert counted() - before == 5 * 4 and asked(t) == []


def test_a_storm_of_toggles_while_the_table_is_called(user: Any) -> None:
    """No call is lost or answered wrongly, and the table is what it was."""
    wrong, array = list[Any](), np.arange(4.0)

    def work() -> None:
        if user.doubles(array).tolist() != [0.0] * 4 or user.returned(array) is not array:
            wrong.append(1)

    capsule, path = numpy_table._capsule(), frozenset([str(user.__file__)])
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with events.storm(4, work):
            for toggle in range(rounds(500, 200_000)):
                _native.numpy_table_choose(path)
                armed = _native.numpy_table_arm(capsule, toggle % 4)
                assert _native.numpy_table_disarm() == (armed, 0) and armed == len(_native.NUMPY_PLACES)
    finally:
        sys.setswitchinterval(switching)
    assert wrong == []
