"""References around arrays: seed 004's stolen dtype on the first call; NumPy's honest calls not accused."""

# SPDX-License-Identifier: MIT
import ctypes
from typing import Any

import dangling
import numpy as np
import pytest
import specimens

import inspector
from inspector.facts.leaks import Touch

SEED = r"""
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
static PyObject *vector_times_scalar(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    PyArrayObject *x = (PyArrayObject *)args[0], *y = (PyArrayObject *)args[1];
    npy_intp *dimensions = PyArray_DIMS(x);
    PyArrayObject *z = (PyArrayObject *)PyArray_Empty(1, dimensions, PyArray_DESCR(x), 0);
    for (npy_intp i = 0; i < dimensions[0]; i++)
        *(double *)PyArray_GETPTR1(z, i) = *(double *)PyArray_GETPTR1(x, i) * *(double *)PyArray_DATA(y);
    return (PyObject *)z;
}
"""


CAPSULED = r"""
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
static void end(PyObject *capsule) { free(PyCapsule_GetPointer(capsule, NULL)); }
static PyObject *make(PyObject *self, PyObject *is_kept) {
    npy_intp count = 3;
    double *memory = calloc(3000, sizeof *memory);
    PyObject *array = PyArray_SimpleNewFromData(1, &count, NPY_DOUBLE, memory);
    if (PyObject_IsTrue(is_kept)) {
        PyArray_SetBaseObject((PyArrayObject *)array, PyCapsule_New(memory, NULL, end));
    } else {
        free(memory);
    }
    return array;
}
"""

CELLS = r"""
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
typedef struct { PyObject *in, *out, *spare; } cells;
static PyObject *make(PyObject *self, PyObject *args) {
    cells *one = malloc(sizeof *one);
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyList_Type, &one->in, &PyList_Type, &one->out, &PyArray_Type,
                          &one->spare)) {
        return NULL;
    }
    Py_INCREF(one->in), Py_INCREF(one->out), Py_INCREF(one->spare);
    return PyCapsule_New(one, NULL, NULL);
}
static PyObject *run(PyObject *self, PyObject *args) {
    PyObject *capsule;
    const char *how;
    if (!PyArg_ParseTuple(args, "Os", &capsule, &how)) { return NULL; }
    cells *one = PyCapsule_GetPointer(capsule, NULL);
    PyArrayObject *x = (PyArrayObject *)PyList_GET_ITEM(one->in, 0);
    PyObject *made = Py_NewRef(how[0] == 'k' ? one->spare : (PyObject *)x);
    if (how[0] == 'm' || how[0] == 's') {
        Py_DECREF(made);
        if (how[0] == 'm') Py_INCREF(PyArray_DESCR(x));
        made = PyArray_Empty(1, PyArray_DIMS(x), PyArray_DESCR(x), 0);
    }
    return PyList_SetItem(one->out, 0, made) < 0 ? NULL : PyLong_FromLong(0);
}
"""


def own_dtype() -> np.dtype[Any]:
    """A dtype of its own for a test: NumPy's are shared."""
    return np.dtype([("only", "f8")])["only"].newbyteorder("=")


@pytest.mark.parametrize("how", ["steals", "makes", "keeps a spare one", "view"])
def test_arrays_in_lists_behind_a_capsule(how: str) -> None:
    """As pytensor's C takes them. Honest: an array made, one that C had before, the input again; twice."""
    module: Any = specimens.build("celled", CELLS, flags=(f"-I{np.get_include()}",))
    kind = own_dtype()
    out: list[Any] = [None]
    capsule = module.make([np.ones(3, kind)], out, np.ones(3, kind))
    with inspector.leaks("celled") as found:
        module.run(capsule, how)
        if how != "steals":
            module.run(capsule, how)
    expected = [("borrowed reference stolen", "dtype('float64')", True)] if how == "steals" else []
    assert [(one.kind, one.object, one.certain) for one in found] == expected
    assert out[0].shape == (3,)


def test_the_seed_steals_a_dtype_it_borrowed() -> None:
    """The fault of the tutorial's first operation (Theano, "Extending Theano with a C Op")."""
    seed: Any = specimens.build("seed_op", SEED, flags=(f"-I{np.get_include()}",))
    kind = own_dtype()
    x, y = np.arange(3, dtype=kind), np.array(2.0, dtype=kind)
    with inspector.leaks("seed_op") as found:
        z = seed.vector_times_scalar(x, y)
    assert z.tolist() == [0.0, 2.0, 4.0]
    (one,) = found
    assert (one.kind, one.object) == ("borrowed reference stolen", "dtype('float64')")
    assert one.certain and one.method == "seed_op.vector_times_scalar"
    line = 1 + SEED.partition("PyArray_Empty")[0].count("\n")
    assert isinstance(one.conversion, Touch)
    assert (one.conversion.function, one.conversion.source) == ("PyArray_Empty", f"seed_op.c:{line}")
    assert one.rule.startswith("PyArray_Empty steals its descr")
    assert one.cure == f"Py_INCREF(descr) before seed_op.c:{line}"


HONEST = (
    "np.array([1.5, 2.5, 3.5])", "np.array([object(), 'x', 3.5], dtype=object)", "np.arange(100.0).tolist()",
    "np.concatenate([np.arange(3.0), np.arange(3.0)])", "np.arange(10.0).astype('f4')",
    "(np.arange(50_000.0) + 1.0) * 2.0 - 3.0", "np.frombuffer(b'12345678')",
    "np.frompyfunc(lambda a, b: a + b, 2, 1)(np.arange(5), np.arange(5))",
)  # fmt: skip


@pytest.mark.parametrize("expression", HONEST)
def test_numpy_is_not_accused(expression: str) -> None:
    expected = eval(expression)
    with inspector.leaks("numpy") as found:
        result = eval(expression)
    assert not [one for one in found if one.certain]
    assert type(result) is type(expected)


def test_a_resize_that_refuses_a_second_reference() -> None:
    with inspector.leaks("numpy") as found:
        array = np.arange(10.0)
        array.resize(20, refcheck=True)
    assert array.shape == (20,) and not [one for one in found if one.certain]


def test_an_array_over_an_address_that_is_freed() -> None:
    module: Any = specimens.build("dangling", dangling.SOURCE)
    numbers = (ctypes.c_int * 4).from_address(module.address())
    array = np.ctypeslib.as_array(numbers)[1:]
    with inspector.leaks("dangling") as found:
        module.end()
    told = {(one.kind, one.object, one.certain) for one in found}
    assert told == {("dangling view", name, True) for name in ("c_int_Array_4", "ndarray")}
    assert array.tolist() == [0, 0, 0]
    assert "freed" in str(inspector.inspect(array))


def test_an_array_with_a_capsule_is_not_accused_and_one_without_is() -> None:
    """Among thousands of views that were there before."""
    module: Any = specimens.build("capsuled", CAPSULED, flags=(f"-I{np.get_include()}",))
    there = (ctypes.c_int * 4)()
    earlier = [(ctypes.c_int * 4).from_address(ctypes.addressof(there)) for _ in range(5_000)]
    with inspector.leaks("capsuled") as found:
        kept, lost = module.make(1), module.make(0)
        part = kept[1:]
        del kept
        module.make(1)
    (one,) = found
    assert (one.kind, one.object, one.certain) == ("dangling view", "ndarray", True)
    assert part.tolist() == [0.0, 0.0] and lost.tolist() == [0.0, 0.0, 0.0]
    with inspector.leaks("capsuled") as found:
        del part
    assert not list(found)
    del earlier
