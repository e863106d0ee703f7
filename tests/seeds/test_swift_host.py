"""Article 003 in its own language: a host in Swift that finds Python by dlsym, traced and attached to."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import hosts
import numpy
import pytest
import swift
from inspector.launched import Launched, launch

from inspector.sessions import running
from inspector.facts.hosted import HostCall, Hosted
from inspector.facts.unknown import Unknown

if swift.compiler() is None:
    pytest.skip(
        "cannot be installed from Debian 12: swiftc; `make seeds` makes a chroot that has it",
        allow_module_level=True,
    )
pytestmark = [
    pytest.mark.skipif(not Path(hosts.shared()).exists(), reason="not on CPython without a shared libpython"),
    pytest.mark.timeout(600),
]
SAID = r"""
x + 4 = 46
super stringy now
owned 2, borrowed 3, released 2
map and filter: 12 16
numbers[1:3] = [7, 8]
Array<Int>(numbers) = [6, 7, 8]
Array<Int>(mixed) = nil
arange: 3 references, shape (3, 5), 3 by 5
np.array([6, 7, 8], dtype: "i2") is int16
Int(5) = 5
Int(3.7) = nil
Int("nope") = nil
Int(2**70) = nil
UInt(-1) = 18446744073709551615
UInt(2**64 + 3) = 3
String("a\0b") = "a"
Double("1.5") = nil
Python.type(5) = <class 'int'>
caught: [Errno 2] No such file or directory: 'foo.txt'
"""
CAPTURED = {"capture_output": True, "text": True, "timeout": 200}


@pytest.fixture(scope="module", autouse=True)
def home() -> Iterator[None]:
    """Where the host's Python finds its own modules, and NumPy. A crash of Swift's prints no backtrace."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOST_HOME", sys.base_prefix)
        patch.setenv("PYTHONPATH", str(Path(numpy.__file__).parents[1]))
        patch.setenv("SWIFT_BACKTRACE", "enable=no")
        yield


@pytest.fixture(scope="module")
def host() -> str:
    return str(swift.built("swift_host"))


def launched(host: str, *words: str) -> Launched:
    return launch([host, hosts.shared(), *words], quiet=True)


@pytest.fixture(scope="module")
def asked(host: str, home: None) -> Hosted:
    """What the host asked of Python. At its end a thread without the GIL drops the last value of `a`."""
    return launched(host, "unlocked").trace.hosted


def of(asked: Hosted, function: str) -> list[HostCall]:
    return [call for call in asked.calls if call.function == function]


def test_it_does_what_the_article_says_and_links_no_symbol(host: str) -> None:
    ran = subprocess.run([host, hosts.shared()], capture_output=True, text=True, timeout=60)
    assert (ran.stdout.strip(), ran.returncode) == (SAID.strip(), 0), ran.stderr
    symbols = subprocess.run(["nm", "-D", host], capture_output=True, text=True, check=True).stdout.split()
    assert "dlsym" in {symbol.partition("@")[0] for symbol in symbols}
    assert [symbol for symbol in symbols if symbol.startswith(("Py", "_Py"))] == []


def test_it_says_which_libpython_it_cannot_open(host: str) -> None:
    for words, why in (([], "none"), (["/nowhere.so"], "/nowhere.so: cannot open shared object file")):
        ran = subprocess.run([host, *words], capture_output=True, text=True, timeout=60)
        assert ran.returncode == -signal.SIGABRT and f"path of a libpython: {why}" in ran.stdout


def test_owned_borrowed_released(asked: Hosted) -> None:
    assert asked.hosts == ("host",)
    changed = [
        (call.function, call.references, call.references_after)
        for call in asked.calls
        if call.object_type == "A" and call.references != call.references_after
    ]
    assert changed == [("Py_IncRef", 2, 3), ("Py_DecRef", 3, 2), ("Py_DecRef", 2, 1)]


def test_members_calls_keywords_and_operators_are_seen_in_order(asked: Hosted) -> None:
    members = [call.values[0] for call in of(asked, "PyObject_GetAttrString") if call.values]
    assert members[:4] == ["'a'", "'x'", "'numbers'", "'numbers'"]
    assert {"'arange'", "'reshape'", "'shape'", "'array'", "'dtype'", "'type'", "'open'"} <= set(members)
    assert [call.values for call in of(asked, "PyObject_SetAttrString")] == [("'x'",)]
    assert [call.object_type for call in of(asked, "PyNumber_Add")] == ["int", "str", "int"]
    assert of(asked, "PyDict_SetItemString")[0].values == ("'dtype'",)
    assert of(asked, "PyErr_Fetch") and of(asked, "PySlice_New") and of(asked, "PyIter_Next")


def test_conversions_that_give_nil_set_an_error_that_is_cleared(asked: Hosted) -> None:
    failed = [(call.function, call.object_type, call.cleared) for call in asked.calls if call.failed]
    assert failed == [
        ("PyLong_AsLong", "str", True),  # the third of `mixed`
        ("PyLong_AsLong", "float", True),
        ("PyLong_AsLong", "str", True),
        ("PyLong_AsLong", "int", True),
        ("PyFloat_AsDouble", "str", True),
        ("PyObject_Call", "builtin_function_or_method", True),
    ]


def test_what_is_lost_without_an_error_is_said(asked: Hosted) -> None:
    assert [(call.function, call.values[0], call.lost) for call in asked.calls if call.lost] == [
        ("PyLong_AsUnsignedLongMask", str(2**64 - 1), "wrapped without an error: negative, or over 64 bits"),
        ("PyLong_AsUnsignedLongMask", "3", "wrapped without an error: negative, or over 64 bits"),
        ("PyUnicode_AsUTF8", "'a'", "cut at its first NUL: 3 bytes became 1"),
    ]


def test_a_deinit_on_a_thread_without_the_gil_is_a_finding(asked: Hosted) -> None:
    (call,) = [call for call in asked.calls if call.without_gil]
    assert call.function == "Py_DecRef" and isinstance(call.references, Unknown)
    assert call.thread != asked.calls[0].thread


def test_an_error_that_nobody_traps_ends_the_host_and_the_trace_tells(host: str) -> None:
    ended = launched(host, "untrapped")
    assert ended.code == -signal.SIGABRT
    told = [(call.function, call.object_type) for call in ended.trace.hosted.calls]
    assert ("PyObject_Str", "FileNotFoundError") in told[-6:]


@pytest.mark.debugger
def test_a_running_host_is_read_from_outside(host: str) -> None:
    with hosts.waiting(host, hosts.shared(), "stay") as child:
        other = running.attach(child.pid)
        assert (other.inspect("a").references, other.inspect("cache['k'][0].x").value) == (3, "int 42")
        found = other.owners("a")
        named = {(one.kind, one.key) for one in found.owners if one.certain}
        assert named == {("global", "a"), ("item", "[0]")}
        assert found.references - found.named == 1, "the reference of a Swift object"
        functions = [frame.function for thread in other.stacks().threads for frame in thread.frames]
        assert {"main", "sleep"} <= set(functions)


@pytest.mark.debugger
def test_it_is_stopped_where_it_enters_python(host: str) -> None:
    command = [Path(sys.executable).parent / "inspector", "break", "--json", "--preset", "host", "--"]
    done = subprocess.run([*command, host, hosts.shared()], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    hits = json.loads(done.stdout[done.stdout.index("{") :])["facts"]["breaks"]["hits"]
    stacks = [[frame["function"] for frame in hit["stack"]["frames"]] for hit in hits]
    entered = [stack for stack in stacks if stack[0] == "PyRun_SimpleStringFlags"]
    assert len(entered) == 3 and all("main" in stack for stack in entered)


def test_leaks_accuses_it_of_what_it_loses_and_of_nothing_else(host: str) -> None:
    """`lost` takes a reference to a list for a call that it does not make; else each one is given back."""
    command = [Path(sys.executable).parent / "inspector", "leaks", "--", host, hosts.shared()]
    ran = [subprocess.run([*command, *words], **CAPTURED) for words in ([], ["lost"])]
    assert [one.returncode for one in ran] == [0, 1]
    assert "leaks    none found" in ran[0].stdout and "host  leaked  list" in ran[1].stdout
    assert "Py_IncRef  in $s4host12PythonObjectV9givenAway" in ran[1].stdout


@pytest.mark.debugger
def test_the_commands_of_the_page_draw_it(host: str) -> None:
    """`inspector trace -- ./host` and `inspector attach PID show EXPR`, as a terminal shows them."""
    inspector = str(Path(sys.executable).parent / "inspector")
    ran = subprocess.run([inspector, "trace", "--all", "--", host, hosts.shared()], **CAPTURED)
    assert ran.returncode == 0 and "host     3 calls lost a value" in ran.stdout
    assert "Py_IncRef                   A                   refs 2 → 3" in ran.stdout
    with hosts.waiting(host, hosts.shared(), "stay") as child:
        ran = subprocess.run([inspector, "attach", str(child.pid), "owners", "a"], **CAPTURED)
    assert "refs     3      2 named, 1 in native code" in ran.stdout
