"""Libraries that ask dlsym for Python's functions and keep them in their data: hooked, named, given back."""

# SPDX-License-Identifier: MIT
import ctypes
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import specimens
from apart import printed
from events import permissions

import inspector
from inspector import _native

pytestmark = pytest.mark.core

HOST = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
typedef void *ref;
static struct {
    int version;
    int (*ensure)(void);
    void (*leave)(int);
    ref (*from_long)(long);
    long (*as_long)(ref);
    void (*release)(ref);
} python = {1, 0, 0, 0, 0, 0};
static ref (*spare)(long); // .bss
void host_begin(void) {
#define ASK(name, of) *(void **)&python.name = dlsym(RTLD_DEFAULT, of)
    ASK(ensure, "PyGILState_Ensure"), ASK(leave, "PyGILState_Release"), ASK(release, "Py_DecRef");
    ASK(from_long, "PyLong_FromLong"), ASK(as_long, "PyLong_AsLong");
    spare = python.from_long;
}
long host_twice(long value) {
    int state = python.ensure();
    ref made = python.from_long(2 * value);
    long found = python.as_long(made);
    python.release(made);
    python.leave(state);
    return found;
}
void **host_word(int number) { return number ? (void **)&python.from_long : (void **)&spare; }
"""
MIXED = r"""
#include <Python.h>
#include <dlfcn.h>
static PyObject *(*asked)(double);
static PyObject *(*const table[])(long) = {PyLong_FromLong, PyBool_FromLong}; // RELRO
static PyObject *half(PyObject *self, PyObject *x) {
    volatile int which = 0;
    Py_XDECREF(table[which](3));
    return asked(PyFloat_AsDouble(x) / 2);
}
static PyTypeObject Kind_type = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "mixed_host.Kind",
    .tp_iter = PyObject_SelfIter, .tp_str = PyObject_Repr, .tp_new = PyType_GenericNew};
__attribute__((constructor)) static void ask(void) {
    *(void **)&asked = dlsym(RTLD_DEFAULT, "PyFloat_FromDouble");
}
"""


def host(name: str) -> Any:
    """The library, by ctypes; each test has its own, whose pointers nobody has hooked before."""
    path = specimens.library(name, HOST)
    found = ctypes.CDLL(str(path))
    found.host_word.restype = ctypes.POINTER(ctypes.c_uint64)
    found.host_begin()
    return found


def words(found: Any) -> list[int]:
    return [found.host_word(number)[0] for number in (0, 1)]


def data_of(found: Any) -> bytes:
    """The writable data of the library, whole."""
    rows = [row for row in _native.maps() if row[5] == found._name and row[2].startswith("rw")]
    return b"".join(ctypes.string_at(row[0], row[1] - row[0]) for row in rows)


def within(t: Any, name: str) -> list[tuple[str, tuple[str, ...], str]]:
    (call,) = [call for call in t.calls if call.name.endswith(name)]
    return [(one.function, one.values, one.module) for one in call.conversions]


def expected(library: str) -> list[tuple[str, tuple[str, ...], str]]:
    called = [("PyLong_FromLong", ("42",), library), ("PyLong_AsLong", ("42",), library)]
    return [*called, ("Py_DecRef", (), library)]


@pytest.mark.parametrize("grade", ["record", "deep"])
def test_its_calls_stand_in_the_call_that_made_them(grade: Any) -> None:
    found = host(f"pointing_{grade}")
    library, before = f"pointing_{grade}", data_of(found)
    with inspector.trace(grade=grade) as t:
        assert found.host_twice(21) == 42
    assert within(t, "host_twice") == [], "nothing of them is seen unasked"
    with inspector.trace(pointers=True, grade=grade) as t:
        assert found.host_twice(21) == 42
        assert words(found) != [0, 0] and data_of(found) != before
    assert [one for one in within(t, "host_twice") if "GIL" not in one[0]] == expected(library)
    assert data_of(found) == before
    (seen,) = [one for one in t.seen if one.module == library]
    assert (seen.pointers_hooked, seen.pointers_changed) == (6, 0)
    assert re.search(rf"{library} +0 +6 by pointer", t.tree())
    again = inspector.trace("ctypes", pointers=True)
    with again:
        found.host_twice(21)
    assert len(within(again, "host_twice")) == len(within(t, "host_twice"))
    assert data_of(found) == before


def test_cffi_calls_it_too() -> None:
    cffi = pytest.importorskip("cffi", reason="cannot be installed")
    host("pointing_for_cffi")
    ffi = cffi.FFI()
    ffi.cdef("long host_twice(long);")
    with inspector.trace(pointers=True) as t:
        assert ffi.dlopen(str(specimens.library("pointing_for_cffi", HOST))).host_twice(21) == 42
    assert [one for one in within(t, "host_twice") if "GIL" not in one[0]] == expected("pointing_for_cffi")


def test_what_its_owner_changes_meanwhile_is_left_alone_and_said() -> None:
    found = host("pointing_changed")
    was = data_of(found)
    with inspector.trace(pointers=True) as t:
        found.host_word(0)[0] = 0x1234
    assert words(found)[0] == 0x1234
    (seen,) = [one for one in t.seen if one.module == "pointing_changed"]
    assert (seen.pointers_hooked, seen.pointers_changed) == (6, 1)
    assert "1 changed by their library while hooked" in t.tree()
    with inspector.trace(pointers=True) as t:  # a word that is no function's address is no pointer any more
        assert words(found)[0] == 0x1234
        assert found.host_twice(21) == 42
    assert within(t, "host_twice")[-3:]
    found.host_word(0)[0] = found.host_word(1)[0]
    assert data_of(found) == was


def test_all_is_given_back_where_the_block_raises() -> None:
    import _cffi_backend

    found = host("pointing_raised")
    was = data_of(found)
    loaders = vars(ctypes)["_dlopen"], _cffi_backend.load_library
    with pytest.raises(ZeroDivisionError), inspector.trace(pointers=True):
        assert data_of(found) != was
        assert vars(ctypes)["_dlopen"] is not loaders[0] and _cffi_backend.load_library is not loaders[1]
        found.host_twice(1 // 0)
    assert data_of(found) == was and found.host_twice(4) == 8
    assert (vars(ctypes)["_dlopen"], _cffi_backend.load_library) == loaders


def test_an_extension_that_also_asks_dlsym_and_its_constant_table() -> None:
    """Its variable and its table are hooked; what stands in its type and its methods is a value."""
    module: Any = specimens.build("mixed_host", MIXED)
    with inspector.trace("mixed_host") as t:
        assert module.half(3.0) == 1.5
    assert [one[0] for one in within(t, "half")] == ["PyFloat_AsDouble"]
    for _ in range(2):  # what is constant is searched once, and armed each time
        with inspector.trace("mixed_host", pointers=True) as t:
            module.half(3.0)
        assert next(one[0] for one in within(t, "half")) == "PyLong_FromLong"
    with inspector.trace("mixed_host", pointers=True) as t:
        assert module.half(3.0) == 1.5 and str(module.Kind()).startswith("<mixed_host.Kind")
        slots = [row for row in _native.got_slots() if row[1] == module.__file__ and row[11] and row[6]]
    called = ["PyLong_FromLong", "PyFloat_AsDouble", "PyFloat_FromDouble"]
    assert [one[0] for one in within(t, "half")] == called
    read_only = {"PyFloat_FromDouble": 0, "PyLong_FromLong": 1, "PyBool_FromLong": 1}
    assert {row[2]: row[8] for row in slots} == read_only
    assert all(ctypes.c_uint64.from_address(row[4]).value == row[9] for row in slots)
    assert all(permissions(row[4]) == "r--p" for row in slots if row[8])


LATE = """
    import ctypes, inspector, sys
    {before}
    with inspector.trace(pointers=True) as t:
        {within}
        host.host_begin()
        assert host.host_twice(21) == 42
    host.host_word.restype = ctypes.POINTER(ctypes.c_uint64)
    kept = [host.host_word(number)[0] for number in (0, 1)]
    assert host.host_twice(4) == 8
    (call,) = [call for call in t.calls if call.name.endswith("host_twice")]
    print(*[one.function for one in call.conversions if "GIL" not in one.function])
"""


@pytest.mark.parametrize("where", ["before", "within"])
def test_what_it_asks_for_while_the_trace_runs_is_hooked(where: str) -> None:
    """In a process of its own: for the life of a process three libraries are answered."""
    path = specimens.library("pointing_late", HOST)
    lines = {"before": "", "within": "", where: f"host = ctypes.CDLL({str(path)!r})"}
    code = textwrap.dedent(LATE).format(**lines)
    assert printed("-c", code).split() == ["PyLong_FromLong", "PyLong_AsLong", "Py_DecRef"]


def test_in_a_terminal(tmp_path: Path) -> None:
    from programs import inspector as run

    path = specimens.library("pointing_script", HOST)
    script = tmp_path / "app.py"
    script.write_text(f"import ctypes\nh = ctypes.CDLL({str(path)!r})\nh.host_begin()\nh.host_twice(21)\n")
    ran = run("trace", "--pointers", "--all", str(script))
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"host_twice\(21\)\s+21 → 42", ran.stdout) and "PyLong_FromLong → 42" in ran.stdout
    refused = run("trace", "--pointers", "--", sys.executable, str(script))
    assert refused.returncode == 2 and "--pointers works only for a script" in refused.stderr
