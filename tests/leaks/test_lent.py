"""What bindings do with references, in plain C: lent objects released, arguments returned, weak references.

Lists, dicts, tuples and floats are kept for reuse by their types when they die.
"""

# SPDX-License-Identifier: MIT
import gc
from collections.abc import Callable
from typing import Any

import pytest
import specimens

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]
SOURCE = r"""
#include <Python.h>
static PyObject *key; // owned
#define F(name) static PyObject *name(PyObject *self, PyObject *x)
F(drop) {
    PyObject *lent = PyDict_GetItemWithError(x, key);
    Py_XDECREF(lent);
    Py_RETURN_NONE;
}
F(take) {
    PyObject *lent = Py_XNewRef(PyDict_GetItemWithError(x, key));
    int failed = PyDict_DelItem(x, key) < 0;
    Py_XDECREF(lent); // its last one
    return failed ? NULL : Py_NewRef(Py_None);
}
F(same) { return x; }
F(packed) {
    PyObject *pair = PyTuple_New(1);
    PyTuple_SET_ITEM(pair, 0, x);
    return pair;
}
F(same_owned) { return Py_NewRef(x); }
F(packed_owned) { return PyTuple_Pack(2, x, x); }
F(lost) {
    PyObject *made = PyByteArray_FromStringAndSize("lost", 4);
    return made ? Py_NewRef(Py_None) : NULL;
}
F(released) { Py_DECREF(x); Py_RETURN_NONE; }
F(forgotten) { Py_RETURN_NONE; }
#define M(name) {#name, name, METH_O, NULL}
static PyMethodDef at_death[] = {M(released), M(forgotten)};
static PyObject *watch(PyObject *thing, PyMethodDef *method) {
    PyObject *callback = PyCFunction_New(method, NULL);
    PyObject *seen = callback ? PyWeakref_NewRef(thing, callback) : NULL;
    Py_XDECREF(callback);
    return seen ? Py_NewRef(Py_None) : NULL; // `seen` is nobody's until its callback is given it
}
F(watched) { return watch(x, &at_death[0]); }
F(watched_for_ever) { return watch(x, &at_death[1]); }
static PyMethodDef methods[] = {
    M(drop), M(take), M(same), M(packed), M(same_owned), M(packed_owned), M(watched), M(watched_for_ever),
    M(lost), {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "lent", NULL, -1, methods};
PyMODINIT_FUNC PyInit_lent(void) {
    key = PyUnicode_FromString("key");
    return PyModule_Create(&definition);
}
"""
MADE: dict[str, Callable[[], Any]] = {
    "list": lambda: [len("two"), "items"],
    "dict": lambda: {"a": len("one")},
    "tuple": lambda: (len("three"), object(), 4),
    "float": lambda: len("two") / 7,
}


class Thing:
    """Can be watched by weak references."""


@pytest.fixture
def lent() -> Any:
    return specimens.build("lent", SOURCE)


def reused() -> list[Any]:
    """The latest dead of each type are somebody else's now."""
    return [make() for make in MADE.values() for _ in range(100)]


@pytest.mark.parametrize("kind", MADE)
def test_a_lent_object_that_is_released_is_told_before_its_block_is_another_s(lent: Any, kind: str) -> None:
    holder = {"key": MADE[kind]()}
    with inspector.leaks("lent") as found:
        lent.drop(holder)
        others = reused()
    (one,) = found
    assert (one.kind, one.certain, one.object) == ("over-released", True, kind)
    assert str(one.conversion.source) == "lent.c:6"
    assert len(others) == 400
    assert "released too often" in repr(holder["key"])


@pytest.mark.parametrize("kind", MADE)
def test_a_lent_object_that_was_taken_over_is_not_accused(lent: Any, kind: str) -> None:
    with inspector.leaks("lent") as found:
        for _ in range(200):
            lent.take({"key": MADE[kind]()})
    assert not found.verdicts
    assert found.fact.unlike == 0
    assert all(type(one) is type(again) for one, again in zip(reused(), reused(), strict=True))


@pytest.mark.parametrize("function", ["same", "packed"])
@pytest.mark.parametrize("make", [list, Thing, lambda: "a text " + str(len("that is new"))])
def test_an_argument_that_is_returned_unowned_is_told(lent: Any, function: str, make: Any) -> None:
    """The call's own reference and the result's were the last: the process would end, or read another's."""
    with inspector.leaks("lent") as found:
        getattr(lent, function)(make())
    (one,) = found
    assert (one.kind, one.certain, one.method) == ("borrowed reference stolen", True, f"lent.{function}")


@pytest.mark.parametrize("function", ["same_owned", "packed_owned"])
def test_an_argument_that_is_returned_owned_is_not(lent: Any, function: str) -> None:
    with inspector.leaks("lent") as found:
        getattr(lent, function)([])
        kept = getattr(lent, function)(Thing())
    assert not found.verdicts
    assert inspector.refcount(kept) == 1


def test_a_weak_reference_that_waits_for_its_callback_is_no_leak(lent: Any) -> None:
    """pybind11's `weakref(x, callback).release()`: the callback releases what it is given."""
    thing = Thing()
    with inspector.leaks("lent") as found:
        lent.watched(thing)
    assert not found.verdicts
    assert [one.holder for one in found.kept] == ["its callback, once its object dies"]
    del thing
    gc.collect()


def test_one_whose_callback_has_come_and_kept_it_is(lent: Any) -> None:
    with inspector.leaks("lent") as found:
        lent.watched_for_ever(Thing())
    (one,) = found
    assert (one.kind, one.certain) == ("leaked", True)
    assert one.conversion.function == "PyWeakref_NewRef"


def test_what_each_run_loses_has_its_line(lent: Any) -> None:
    """The table of what was born in the runs names blocks by address: it is no owner."""
    found = inspector.leaks("lent").run(lambda: lent.lost(None))
    (one,) = found
    assert (one.kind, one.certain, one.method) == ("leaked", True, "lent.lost")
    assert str(one.conversion.source) == f"lent.c:{SOURCE[: SOURCE.index('PyByteArray')].count(chr(10)) + 1}"
    assert not found.kept
