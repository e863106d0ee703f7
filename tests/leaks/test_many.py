"""More suspects than are searched, and how verdicts read where little is known of them."""

# SPDX-License-Identifier: MIT
import sys
from pathlib import Path
from typing import Any

import pytest
import specimens

import inspector

pytestmark = pytest.mark.core
SOURCE = r"""
#include <Python.h>
enum { MANY = 1500 };
static PyObject *volatile kept[MANY]; // never read: the compiler would leave it out
static PyObject *keep(PyObject *self, PyObject *number) { // an instance of a class of its own
    long at = PyLong_AsLong(number);
    PyObject *name = PyUnicode_FromFormat("Kept%ld", at);
    PyObject *type = PyObject_CallFunction((PyObject *)&PyType_Type, "O(){}", name);
    kept[at] = PyObject_CallNoArgs(type);
    Py_DECREF(type), Py_DECREF(name);
    Py_RETURN_NONE;
}
static PyObject *lose(PyObject *self, PyObject *unused) {
    PyList_New(0), PyDict_New(), PySet_New(NULL), PyByteArray_FromStringAndSize(NULL, 8);
    Py_RETURN_NONE;
}
static PyMethodDef methods[] = {{"keep", keep, METH_O, NULL}, {"lose", lose, METH_NOARGS, NULL}, {0}};
static int fill(PyObject *module) {
    for (long i = 0; i < MANY && getenv("KEEPS_AT_IMPORT"); i++) {
        PyObject *number = PyLong_FromLong(i);
        Py_XDECREF(keep(NULL, number));
        Py_DECREF(number);
    }
    return 0;
}
static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "keeps", NULL, 0, methods, slots, 0, 0, 0};
PyMODINIT_FUNC PyInit_keeps(void) { return PyModuleDef_Init(&definition); }
"""


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module can be imported, and was not."""
    monkeypatch.syspath_prepend(str(Path(specimens.library("keeps", SOURCE)).parent))
    monkeypatch.delitem(sys.modules, "keeps", raising=False)


def test_what_a_call_lost_is_searched_before_imports(fresh: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("KEEPS_AT_IMPORT", "1")
    with inspector.leaks("keeps") as found:
        import keeps  # type: ignore[import-not-found]

        for _ in range(8):  # an old word in memory may hide one of a kind
            keeps.lose()
    told = {one.object.split()[0].rstrip("()") for one in found.certain}
    assert told == {"list", "dict", "set", "bytearray"}
    assert found.fact.unlike > 500 and {one.method for one in found.certain} == {"keeps.lose"}


def test_nobody_accused_is_said_of_those_that_were_searched(fresh: Any) -> None:
    import keeps

    with inspector.leaks("keeps") as found:
        for number in range(700):
            keeps.keep(number)
    fact = found.fact
    assert (found.verdicts, fact.suspects) == ((), 512)
    assert fact.unlike == fact.left_out - 684 >= 188
    said = " ".join(found.report.to_text().split())
    assert said.startswith("No fault was found in the references of 700 calls; ")
    assert f"; {fact.unlike} objects were not searched: watch less code at a time." in said


def test_what_is_like_the_searched_is_not_of_another_origin(fresh: Any) -> None:
    import keeps

    with inspector.leaks("keeps") as found:
        for _ in range(40):
            keeps.lose()
    assert (found.fact.suspects, found.fact.left_out, found.fact.unlike) == (4 * 16, 4 * 24, 0)
    assert "96 more like them not searched" in found.report.drawn(everything=True).to_text()


DRAWN = r"""
#include <Python.h>
#include <stdlib.h>
#include <string.h>
static void *volatile used;
__attribute__((noinline)) void *take_a_block(size_t length) {
    used = memset(malloc(length), 1, length);
    return used;
}
__attribute__((noinline)) int lose_it(void) {
    int first = *(volatile char *)take_a_block(200);
    used = NULL;
    return first;
}
static PyObject *lose(PyObject *self, PyObject *unused) { return PyLong_FromLong(lose_it()); }
"""


def test_a_frame_without_a_line_has_its_name_once_and_run_its_line() -> None:
    nolines = specimens.build("nolines", DRAWN, flags=("-g0", "-fno-optimize-sibling-calls"))
    found = inspector.leaks("nolines")
    line = sys._getframe().f_lineno + 1
    told = found.run(nolines.lose).report.to_text()
    rows = [row for row in told.splitlines() if "called it" in row]
    assert rows, told
    for row in rows:
        assert row.split().count(row.split()[1]) == 1, row
    assert f"test_many.py:{line}" in told and "leaked.py" not in told
