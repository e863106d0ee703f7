"""Which C functions a Python line will call is known before it runs."""

# SPDX-License-Identifier: MIT
import builtins
import ctypes
import functools
import json
import threading
from pathlib import Path
from typing import Any

import cffi
import numpy
import pytest
import specimens

from inspector.binaries.addresses import place
from inspector.debugger.dap.line_calls import line_calls
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.debugger]

FFI = cffi.FFI()
FFI.cdef("int abs(int); int atoi(char *);")


class Lazy:
    ran = False

    @property
    def dot(self) -> Any:
        Lazy.ran = True
        return numpy.dot


NAMES: dict[str, Any] = {
    "np": numpy,
    "a": numpy.arange(3.0),
    "zeros": functools.partial(numpy.zeros, 2),
    "c": ctypes.CDLL(None),
    "lib": FFI.dlopen(None),
    "lazy": Lazy(),
}
LINES = {
    "np.dot(a, np.array([1, 2]))": {"array_matrixproduct", "array_array"},
    "a @ a": {"array_matrix_multiply"},
    "np.add(a, a)": {"ufunc_generic_vectorcall"},
    "a[0]": {"array_subscript"},
    "a.sum().item()": {"array_sum"},
    "np.ndarray((2,))": {"array_new"},
    "np.ndarray((2,)).fill(0)": {"array_new", "array_fill"},
    "if np.dot(a, a) > 1:\n    np.array(1)": {"array_matrixproduct"},
    "zeros()": {"array_zeros"},
    "c.abs(-3)": {"abs"},
    "lib.abs(-3)": {"abs"},
    "lib.atoi(b)": {"atoi"},  # not looked up yet
    "lazy.dot(a, a)": set(),
    "nosuch(1)": set(),
    "def f(": set(),
}


@pytest.mark.parametrize("text", LINES)
def test_the_functions_of_a_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "line.py"
    path.write_text(text)
    NAMES["c"].abs, NAMES["lib"].abs  # found at their first use
    told = json.loads(line_calls(str(path), 1, (NAMES, vars(builtins))))
    assert told["thread"] == threading.get_native_id()
    symbols = [place(entry["address"]).symbol for entry in told["entries"]]
    assert not any(isinstance(symbol, Unknown) for symbol in symbols)
    assert {str(symbol).lstrip("_") for symbol in symbols} == LINES[text]
    assert not Lazy.ran and "atoi" not in NAMES["lib"].__dict__


UFUNC = r"""
#include <Python.h>
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>
static void squared(char **at, const npy_intp *count, const npy_intp *step, void *unused) {
    for (npy_intp i = 0; i < count[0]; i++) {
        double x = *(double *)(at[0] + i * step[0]);
        *(double *)(at[1] + i * step[1]) = x * x;
    }
}
static PyUFuncGenericFunction loops[] = {squared};
static const char types[] = {NPY_DOUBLE, NPY_DOUBLE};
static void *none[] = {NULL};
static PyObject *made(PyObject *self, PyObject *unused) {
    import_array();
    import_umath();
    return PyUFunc_FromFuncAndData(loops, none, types, 1, 1, 1, PyUFunc_None, "squared", "", 0);
}
"""


def test_a_ufunc_of_another_library_is_entered_in_its_own_loop(tmp_path: Path) -> None:
    """NumPy's own function that calls the loop has no lines."""
    ufunc = specimens.build("looped", UFUNC, flags=(f"-I{numpy.get_include()}",)).made()
    path = tmp_path / "line.py"
    path.write_text("ufunc(3.0)")
    told = json.loads(line_calls(str(path), 1, ({"ufunc": ufunc}, vars(builtins))))
    assert [place(entry["address"]).symbol for entry in told["entries"]] == ["squared"]
    assert ufunc(3.0) == 9.0
