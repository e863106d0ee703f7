"""A host in C++ whose owners are inlined: a reference taken with the wrong ownership is told by line."""

# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import hosts
import pytest

from inspector.facts.leaks import Verdict
from inspector.sessions.leaks_launched import launch

pytestmark = [pytest.mark.core, hosts.shared_library]
OWNER = r"""
#include <Python.h>
#include <cstdlib>
#include <utility>
namespace {
class Object {
    PyObject *p_ = nullptr;
    explicit Object(PyObject *p) : p_(p) {}
  public:
    static Object owned(PyObject *p) { return Object(p); }
    static Object borrowed(PyObject *p) { Py_XINCREF(p); return Object(p); }
    Object(const Object &other) : p_(other.p_) { Py_XINCREF(p_); }
    Object &operator=(Object other) { std::swap(p_, other.p_); return *this; }
    ~Object() { Py_XDECREF(p_); }
    PyObject *get() const { return p_; }
};
}
static long ran(PyObject *made(long)) {
    Object list = Object::owned(PyList_New(0));
    for (long i = 0; i < 20; i++) {
        Object x = Object::MAKES(made(i)); // makes
        Object copy = x;
        PyList_Append(list.get(), copy.get());
        Object again = Object::AGAIN(PySequence_GetItem(list.get(), i)); // again
    }
    for (long i = 0; i < 20; i++) {
        Object y = Object::TAKES(PySequence_GetItem(list.get(), i)); // takes
    }
    for (long i = 0; i < 20; i++) {
        Object z = Object::LENT(PyList_GetItem(list.get(), i)); // lent
        PyList_SetItem(list.get(), i, Py_NewRef(Py_None));
    }
    return PyList_Size(list.get());
}
static PyObject *number(long i) { return PyLong_FromLong(100000 + i); }
static PyObject *text(long i) { return PyUnicode_FromFormat("item %ld", i); }
int main() {
    Py_Initialize();
    long n = ran(OF);
    Py_FinalizeEx();
    return n != 20;
}
"""
HONEST = {"MAKES": "owned", "AGAIN": "owned", "TAKES": "owned", "LENT": "borrowed"}


def judged(folder: Path, of: str, **wrong: str) -> list[Verdict]:
    """The certain verdicts on a run with all of it inlined."""
    found = sysconfig.get_config_var("LIBDIR")
    python = [f"-L{found}", f"-lpython{sysconfig.get_config_var('LDVERSION')}", f"-Wl,-rpath,{found}"]
    defined = [f"-D{name}={value}" for name, value in ({**HONEST, "OF": of} | wrong).items()]
    (folder / "host.cpp").write_text(OWNER)
    words = ["g++", "-O2", "-g", *defined, f"-I{sysconfig.get_path('include')}", "host.cpp", "-o", "host"]
    subprocess.run([*words, *python], check=True, cwd=folder)
    run = launch([os.fspath(folder / "host")], quiet=True)
    assert run.code == 0
    return [one for one in run.fact if one.certain]


def line(word: str) -> str:
    return f"host.cpp:{next(n for n, row in enumerate(OWNER.splitlines(), 1) if row.endswith(f'// {word}'))}"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", sys.base_prefix)


@pytest.mark.quick
@pytest.mark.parametrize("of", ["number", "text"])
def test_an_honest_owner_is_not_accused(of: str, tmp_path: Path) -> None:
    assert judged(tmp_path, of) == []


FREE_LIST = pytest.mark.skipif(
    sys.version_info >= (3, 14), reason="not on CPython 3.14: a freed int goes to a list that no hook sees"
)


@pytest.mark.parametrize("of", [pytest.param("number", marks=FREE_LIST), "text"])
def test_a_lent_reference_taken_as_owned(of: str, tmp_path: Path) -> None:
    """Without the ledger's placeholder the second release is written into a freed block."""
    (one,) = judged(tmp_path, of, LENT="owned")
    assert (one.kind, one.conversion.source) == ("over-released", line("lent"))
    assert f"result of {line('lent')}" in one.cure


def test_a_new_reference_taken_as_lent(tmp_path: Path) -> None:
    """What was released before the call is not said to be lost."""
    (one,) = judged(tmp_path, "number", TAKES="borrowed")
    assert (one.kind, one.conversion.source) == ("leaked", line("takes"))
    assert one.cure == f"Py_DECREF the result of {line('takes')}"


def test_one_of_several_references_is_lost(tmp_path: Path) -> None:
    """Which one, the calls do not show: the first one makes the object, and each may have been it."""
    for wrong in ({"MAKES": "borrowed"}, {"AGAIN": "borrowed"}):
        (one,) = judged(tmp_path, "number", **wrong)
        assert one.kind == "leaked" and one.conversion.function == "PyLong_FromLong"
        assert line("again") in one.cure and "one release is missing" in one.cure
