"""What could go wrong while slots are patched: threads, unwinding, fork, exit, memray, a static Python."""

# SPDX-License-Identifier: MIT
import os
import shutil
import signal
import struct
import sys
import warnings
from pathlib import Path
from types import ModuleType

import events
import pytest
import specimens
from apart import printed, ran
from events import DEEP, function, kind, traced
from soak import rounds

from inspector import _native

pytestmark = pytest.mark.core

BUSY = """
#include <Python.h>
static PyObject *work(PyObject *self, PyObject *times) {
    long n = PyLong_AsLong(times), sum = 0;
    for (long i = 0; i < n; i++) {
        PyObject *made = Py_BuildValue("(il)", 3, i);
        int three;
        long value;
        if (!made || !PyArg_ParseTuple(made, "il", &three, &value)) { return NULL; }
        Py_DECREF(made);
        PyObject *number = PyLong_FromLong(value * three);
        sum += PyLong_AsLong(number);
        Py_DECREF(number);
        Py_BEGIN_ALLOW_THREADS
        Py_END_ALLOW_THREADS
    }
    return PyLong_FromLong(sum);
}
"""

JUMPING = """
#include <Python.h>
#include <setjmp.h>
static jmp_buf back;
static PyObject *jump(PyObject *self, PyObject *unused) { longjmp(back, 1); }
static PyObject *land(PyObject *self, PyObject *callable) {
    if (setjmp(back) == 0) {
        PyObject *result = PyObject_CallNoArgs(callable); // left by longjmp, from inside the callable
        Py_XDECREF(result);
    }
    return PyLong_FromLong(77);
}
"""

THROWING = """
#include <Python.h>
#include <stdexcept>
static PyObject *thrower(PyObject *ignored, PyObject *unused) { throw std::runtime_error("thrown"); }
static PyMethodDef thrower_row = {"thrower", thrower, METH_NOARGS, NULL};
static PyObject *catches(PyObject *self, PyObject *unused) {
    PyObject *callable = PyCFunction_New(&thrower_row, NULL);
    try {
        PyObject *result = PyObject_CallNoArgs(callable); // an exception of C++ passes through libpython
        Py_XDECREF(result);
    } catch (const std::exception &error) {
        Py_DECREF(callable);
        return PyUnicode_FromString(error.what());
    }
    return PyUnicode_FromString("not thrown");
}
"""
IMPORTED = """
import importlib.machinery, importlib.util
from inspector import _native
loader = importlib.machinery.ExtensionFileLoader("busy_module", {!r})
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("busy_module", loader))
"""


@pytest.fixture(scope="module")
def busy() -> ModuleType:
    return specimens.build("busy_module", BUSY)


def test_a_storm_of_toggles_under_four_threads(busy: ModuleType) -> None:
    """1e6 toggles in the long run: no call is lost or answered wrongly, no slot is left patched."""
    wrong, path = list[int](), frozenset([str(busy.__file__)])

    def work() -> None:
        if busy.work(300) != 3 * sum(range(300)):
            wrong.append(1)

    with events.storm(4, work):
        for toggle in range(rounds(5_000, 500_000)):
            _native.got_arm(path, toggle % 3)
            _native.got_disarm()
    assert wrong == []
    assert [row[2] for row in _native.got_slots() if row[6]] == []


def test_longjmp_out_of_a_hooked_call() -> None:
    """The hook that is left behind writes no record; those after it stand at the right depth again."""
    child = f"""
import sys
sys.path[:0] = {[str(Path(specimens.__file__).parent)]!r}
import events, specimens
jumping = specimens.build("jumping", {JUMPING!r})
with events.traced(jumping) as seen:
    print([jumping.land(jumping.jump) for _ in range(3)])
print([(events.function(e), e.depth) for e in seen.events if events.function(e) == "PyLong_FromLong"])
"""
    ended = ran("-c", child)
    assert ended.stdout == f"[77, 77, 77]\n{[('PyLong_FromLong', 0)] * 3}\n", ended.stderr


def test_an_exception_of_cpp_through_a_hook() -> None:
    flags = ("-xc++", "-std=gnu++17", "-Wno-missing-field-initializers", "-Wl,--no-as-needed", "-lstdc++")
    path = specimens.library("throwing", THROWING, flags=flags)
    child = f"""
import sys
sys.path[:0] = {[str(path.parent), str(Path(specimens.__file__).parent)]!r}
import events, throwing
for grade in (events.RECORDED, events.DEEP):
    with events.traced(throwing, grade=grade) as seen:
        print(throwing.catches(), throwing.catches())
    calls = [e for e in seen.events if events.kind(e) == "CAPI"]
    print([(events.function(e), e.depth) for e in calls if "FromString" in events.function(e)])
"""
    ended = ran("-c", child)
    line = f"thrown thrown\n{[('PyUnicode_FromString', 0)] * 2}\n"
    assert ended.stdout == line * 2, ended.stderr


def test_a_fork_while_armed(busy: ModuleType) -> None:
    """The child goes on recording, into rings of its own; the parent's are as they were."""
    with traced(busy) as seen:
        busy.work(1)
        before = _native.ring_read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            fine = busy.work(2) == 3 and len(events.decode(_native.ring_read()[0][6])) > 10
            os._exit(0 if fine else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert _native.ring_read() == before
    assert seen.rows == before


def test_recursion_through_a_hooked_call() -> None:
    """`__index__` calls the module again: each call is a level deeper, and comes back."""
    module = specimens.build("recursive", BUSY)

    class Number:
        def __init__(self, left: int) -> None:
            self.left = left

        def __index__(self) -> int:
            return int(module.work(Number(self.left - 1))) if self.left else 0

    with traced(module, grade=DEEP) as seen:
        assert module.work(Number(20)) == 0
    depths = [event.depth for event in seen.events if function(event) == "PyLong_AsLong"]
    assert depths == list(range(20, -1, -1))


def test_a_freed_object_is_not_read(busy: ModuleType) -> None:
    with traced(busy, grade=DEEP) as seen:
        busy.work(50)
    freed = [event for event in seen.events if function(event) == "_Py_Dealloc"]
    assert freed
    assert {event.refs_delta for event in freed} == {-32768}
    assert {seen.objects[event.type] for event in freed} <= {tuple, int}


def test_calls_without_the_gil_look_at_nothing(busy: ModuleType) -> None:
    with traced(busy, grade=DEEP) as seen:
        busy.work(5)
    changes = [event for event in seen.events if kind(event) == "GIL"]
    assert [event.func for event in changes] == [0, 1] * 5
    assert {(event.type, event.code, event.refs) for event in changes} == {(0, 0, 0)}


def test_daemon_threads_at_exit(busy: ModuleType) -> None:
    """They are parked in PyEval_RestoreThread, through a thunk, when the process ends."""
    child = f"""
import threading, time
{IMPORTED.format(busy.__file__)}_native.ring_begin("", 4096, "last", 1, 1, 1 << 26, -1)
_native.got_arm(frozenset([{busy.__file__!r}]), 2)
for _ in range(4):
    threading.Thread(target=lambda: [module.work(1000) for _ in iter(int, 1)], daemon=True).start()
time.sleep(0.05)
print("done")
"""
    for _ in range(rounds(3, 30)):
        ended = ran("-c", child)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


def test_what_a_killed_process_recorded_is_read_back(busy: ModuleType, tmp_path: Path) -> None:
    child = f"""
import os, signal, sys
{IMPORTED.format(busy.__file__)}_native.ring_begin(sys.argv[1], 4096, "last", 1, 0, 1 << 26, -1)
_native.got_arm(frozenset([{busy.__file__!r}]), 1)
module.work(100)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert ran("-c", child, str(tmp_path)).returncode == -signal.SIGKILL
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    head = {name: struct.unpack_from("<" + code, content, at)[0] for name, code, at, _ in _native.RING_HEADER}
    assert (head["magic"], head["capacity"]) == (_native.RING_MAGIC, 4096)
    found = events.decode(content[4096 : 4096 + head["head"] * 64])
    assert len(found) == head["head"]
    assert [event.val for event in found if kind(event) == "VALUE"][-4:] == [3, 99, 3, 99]


def test_a_statically_linked_python(busy: ModuleType) -> None:
    """Debian's python3 holds libpython in the program: extensions call it by their slots all the same."""
    static = shutil.which("/usr/bin/python3")
    if static is None:
        pytest.skip("cannot be installed here: .ci/system.py brings Debian's python3")
    version = ran("-c", "import sys; print(sys.version_info[1])", python=static).stdout.strip()
    if version != str(sys.version_info.minor):
        pytest.skip(f"not on CPython 3.{sys.version_info.minor}: the system's is 3.{version}")
    child = f"""
import importlib.machinery, importlib.util, sys
def load(name, path):
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
native = load("inspector._native", {_native.__file__!r})
module = load("busy_module", {busy.__file__!r})
native.ring_begin("", 4096, "last", 1, 1, 1 << 26, -1)
for grade in (0, 1, 2):
    assert native.got_arm(frozenset([{busy.__file__!r}]), grade)[0] == 8
    assert module.work(100) == 3 * sum(range(100))
    assert native.got_disarm()[1:] == (0, 0, 0)
counts = {{row[2]: row[5] for row in native.got_slots()}}
print(counts["PyLong_FromLong"], counts["PyArg_ParseTuple"], native.ring_end()[0][0][2] > 1000)
"""
    ended = ran("-c", child, python=static)
    assert ended.stdout == "101 100 True\n", ended.stderr


def test_memray_at_the_same_time(busy: ModuleType, tmp_path: Path) -> None:
    """It patches slots of the allocators, and looks at every object as it is loaded."""
    pytest.importorskip("memray", reason="cannot be installed")
    child = f"""
import memray, sys
{IMPORTED.format(busy.__file__)}paths = frozenset(_native.got_objects())
for order in range(2):
    _native.ring_begin("", 4096, "last", 1, 1, 1 << 26, -1)
    if order:
        _native.got_arm(paths, 2)
    with memray.Tracker(sys.argv[1] + str(order), native_traces=True):
        _native.got_arm(paths, 2)
        assert module.work(100) == 3 * sum(range(100))
        restored = _native.got_disarm()
    written = _native.ring_end()[0][0][2]
    print(restored[1:], written > 1000)
"""
    ended = ran("-c", child, str(tmp_path / "memray"))
    assert ended.stdout == "(0, 0, 0) True\n" * 2, ended.stderr


def test_memray_that_begins_and_ends_during_a_trace() -> None:
    """It puts the plain functions back: blocks are missing, and a copy was told as shared memory."""
    pytest.importorskip("memray", reason="cannot be installed")
    code = """
import sys, tempfile, memray
import numpy as np, inspector
a = np.arange(100_000.0)
with inspector.trace("numpy") as alone:
    a.copy()
print(alone.copies[0].allocator)
with inspector.trace("numpy") as t:
    with memray.Tracker(tempfile.mkdtemp() + "/m"):
        inside = a.copy()
    after = a.copy()
print(sum(copy.times for copy in t.copies), "another tracer" in str(t.copies[-1].allocator))
"""
    giver, told = printed("-c", code).splitlines()
    by_malloc = giver == "_multiarray_umath (malloc)"  # NumPy 2.5 asks PyMem_RawMalloc, which memray leaves
    assert told == f"2 {by_malloc}" and (by_malloc or giver == "_multiarray_umath (PyMem_RawMalloc)")
