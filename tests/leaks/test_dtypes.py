"""A dtype stolen in a call that was given no array: the account of NumPy's own dtypes."""

# SPDX-License-Identifier: MIT
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import specimens
from threads import repeating

import inspector
from inspector.facts.conversion import Site
from inspector.facts.leaks import Suspect, Touch
from inspector.facts.unknown import Address, Unknown
from inspector.verdicts.leaks import verdicts

SOURCE = r"""
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <string.h>
static PyArrayObject *input, *output; // of earlier calls
static PyObject *array(PyArray_Descr *descr) {
    return PyArray_Empty(1, PyArray_DIMS(input), descr, 0); // fault
}
static PyObject *owned(void) {
    Py_INCREF(PyArray_DESCR(input));
    return array(PyArray_DESCR(input));
}
static PyObject *keep(PyObject *self, PyObject *x) {
    Py_XSETREF(input, (PyArrayObject *)Py_NewRef(x));
    Py_CLEAR(output);
    return Py_NewRef(Py_None);
}
static PyObject *run(PyObject *self, PyObject *args) {
    const char *how;
    PyObject *asked = NULL;
    if (!PyArg_ParseTuple(args, "s|O", &how, &asked)) { return NULL; }
    if (asked) { Py_XDECREF(PyObject_CallNoArgs(asked)); }
    if (strstr(how, "ends")) { Py_CLEAR(output); }
    for (int i = 0; strstr(how, "many") && i < 40; i++) { Py_DECREF(owned()); }
    if (strstr(how, "other")) {
        npy_intp count = 1;
        Py_XDECREF(PyArray_SimpleNew(1, &count, NPY_DOUBLE));
    }
    if (strstr(how, "allows")) {
        Py_BEGIN_ALLOW_THREADS
        Py_END_ALLOW_THREADS
    }
    PyObject *made = strstr(how, "steals") ? array(PyArray_DESCR(input))
                     : strstr(how, "asks for") ? array(PyArray_DescrFromType(NPY_DOUBLE)) : owned();
    Py_XSETREF(output, (PyArrayObject *)made);
    return Py_NewRef(Py_None);
}
"""
IMMORTAL = sys.getrefcount(np.dtype("f8")) > 1 << 30  # NumPy 2.5 on CPython 3.13: no count says anything
NAMES_ITS_DTYPE = np.lib.NumpyVersion(np.__version__) < "2.5.0"
"""A block that was an array does."""
DEATHS = ["ends, ", "many, ", "ends, many, other, "] if NAMES_ITS_DTYPE else []
FAULT = SOURCE[: SOURCE.index("// fault")].count("\n") + 1


@pytest.fixture(scope="module")
def dtyped() -> Any:
    return specimens.build("dtyped", SOURCE, flags=(f"-I{np.get_include()}",))


@pytest.mark.skipif(IMMORTAL, reason="not on CPython with this NumPy: its dtypes are immortal")
@pytest.mark.parametrize("before", ["", *DEATHS])
def test_a_stolen_dtype_is_told_on_the_first_call_with_its_line(dtyped: Any, before: str) -> None:
    dtyped.keep(np.arange(3.0))
    dtyped.run("makes")
    with inspector.leaks("dtyped") as found:
        dtyped.run(before + "steals")
    (one,) = found.verdicts
    assert (one.kind, one.object) == ("borrowed reference stolen", "dtype('float64')")
    assert (one.certain, one.references) == (True, 1)
    assert isinstance(one.conversion, Touch)
    assert (one.conversion.function, one.conversion.source) == ("PyArray_Empty", f"dtyped.c:{FAULT}")
    assert one.method == "dtyped.run"


@pytest.mark.parametrize("how", ["makes", "ends", "many", "ends, many, other", "asks for one", "allows"])
def test_who_owns_what_is_stolen_is_not_accused(dtyped: Any, how: str) -> None:
    """Arrays of earlier calls die, many come and go, several calls in one block."""
    dtyped.keep(np.arange(3.0))
    dtyped.run("makes")
    with inspector.leaks("dtyped") as found:
        for _ in range(5):
            dtyped.run(how)
    assert not found.verdicts


def test_what_python_lets_go_of_meanwhile_is_not_the_callers(dtyped: Any) -> None:
    """A list of dtypes that Python empties within the call: the count falls, and nothing shows who held."""
    dtyped.keep(np.arange(3.0))
    held = [np.dtype("f8")] * 100
    with inspector.leaks("dtyped") as found:
        dtyped.run("makes", held.clear)
        held += [np.dtype("f8")] * 100
        dtyped.run("makes", lambda: held.clear())
    assert not found.verdicts


def test_what_another_thread_lets_go_of_meanwhile_is_not_the_callers(dtyped: Any) -> None:
    dtyped.keep(np.arange(3.0))
    held: list[Any] = []

    def fills() -> None:
        held.append(np.dtype("f8"))
        held.clear()

    with repeating(1, fills), inspector.leaks("dtyped") as found:
        for _ in range(2000):
            dtyped.run("makes, allows")
    assert not found.verdicts


KEEPER = r"""
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
typedef struct { PyObject_HEAD PyArray_Descr *descr; } Box;
static PyArray_Descr *cached;
static PyObject *made(PyArray_Descr *descr) {
    npy_intp size = 3;
    return PyArray_Empty(1, &size, descr, 0);
}
static PyObject *put(PyArray_Descr **place, PyObject *array) {
    PyArray_Descr *descr = PyArray_DESCR((PyArrayObject *)array);
    Py_XSETREF(*place, (PyArray_Descr *)Py_NewRef(descr));
    return Py_NewRef(Py_None);
}
static PyObject *forget(PyArray_Descr **place) {
    Py_CLEAR(*place);
    return Py_NewRef(Py_None);
}
static PyObject *hand_on(PyArray_Descr **place) {
    PyArray_Descr *own = *place;
    *place = NULL;
    return made(own);
}
static PyObject *keep(PyObject *self, PyObject *array) { return put(&cached, array); }
static PyObject *clear(PyObject *self, PyObject *array) { return forget(&cached); }
static PyObject *pass_on(PyObject *self, PyObject *array) { return hand_on(&cached); }
static PyObject *steal(PyObject *self, PyObject *array) {
    return made(PyArray_DESCR((PyArrayObject *)array));
}
static PyObject *box_keep(Box *box, PyObject *array) { return put(&box->descr, array); }
static PyObject *box_clear(Box *box, PyObject *array) { return forget(&box->descr); }
static PyObject *box_pass_on(Box *box, PyObject *array) { return hand_on(&box->descr); }
static void box_dealloc(Box *box) { Py_XDECREF(box->descr); Py_TYPE(box)->tp_free(box); }
static PyMethodDef of_box[] = {
    {"keep", (PyCFunction)box_keep, METH_O, NULL}, {"clear", (PyCFunction)box_clear, METH_O, NULL},
    {"pass_on", (PyCFunction)box_pass_on, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static PyTypeObject Box_type = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "keeper.Box",
    .tp_basicsize = sizeof(Box), .tp_new = PyType_GenericNew,
    .tp_dealloc = (destructor)box_dealloc, .tp_methods = of_box};
"""


@pytest.fixture(scope="module")
def keeper() -> Any:
    return specimens.build("keeper", KEEPER, flags=(f"-I{np.get_include()}",))


@pytest.mark.parametrize("place", ["static", "field"])
@pytest.mark.parametrize("how", ["clear", "pass_on"])
def test_a_reference_that_c_code_kept_itself_is_its_own(keeper: Any, place: str, how: str) -> None:
    """A cache that is cleared, or whose reference is handed on to who steals it, twice."""
    owner, array = keeper if place == "static" else keeper.Box(), np.arange(3.0)
    owner.keep(array)
    with inspector.leaks("keeper") as found:
        getattr(owner, how)(array)
        owner.keep(array)
        getattr(owner, how)(array)
    assert not found.verdicts


@pytest.mark.skipif(IMMORTAL, reason="not on CPython with this NumPy: its dtypes are immortal")
@pytest.mark.parametrize("place", ["static", "field"])
def test_a_theft_beside_it_is_told(keeper: Any, place: str) -> None:
    owner, array = keeper if place == "static" else keeper.Box(), np.arange(3.0)
    owner.keep(array)
    with inspector.leaks("keeper") as found:
        owner.clear(array)
        keeper.steal(array)
    (one,) = found.verdicts
    assert (one.kind, one.certain, one.references) == ("borrowed reference stolen", True, 1)
    assert one.method == "keeper.steal"


def test_a_fall_that_the_calls_seen_do_not_explain_is_possible() -> None:
    """pybind11's arrays: each call made the reference that it took, and what fell was another one."""
    site = Site("app.py", 3, "f", Unknown("not in a notebook"), "")
    made, taken = (
        Touch(role, function, "", "m.f", "f", "m.c:3", site, 0)
        for role, function in (("new", "PyArray_DescrFromType"), ("stolen", "PyArray_NewFromDescr"))
    )
    fell = Suspect(
        "dtype", "Float64DType", Address(8), "dtype", False, False, 9, 10, 0, 8, 0, 0, (), "", -1, 1,
        1, False, (taken,),
    )  # fmt: skip
    assert [one.certain for one in verdicts([fell], [])] == [True]
    assert [one.certain for one in verdicts([replace(fell, touches=(made, taken))], [])] == [False]
