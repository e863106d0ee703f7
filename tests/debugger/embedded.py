"""What the hosts of seed 003, in C and in Swift, ask of Python; both are compared with the same rows."""

# SPDX-License-Identifier: MIT
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hosts
import numpy
import pytest

from inspector.facts.hosted import HostCall, Hosted
from inspector.sessions import running
from inspector.sessions.trace_launched import Launched, launch

COMMAND = str(Path(sys.executable).parent / "inspector")
CHANGED = [("Py_IncRef", 2, 3), ("Py_DecRef", 3, 2), ("Py_DecRef", 2, 1)]
FAILED = [
    ("PyLong_AsLong", "str", True),  # the third of `mixed`
    ("PyLong_AsLong", "float", True),
    ("PyLong_AsLong", "str", True),
    ("PyLong_AsLong", "int", True),
    ("PyFloat_AsDouble", "str", True),
    ("PyObject_Call", "builtin_function_or_method", True),
]
LOST = [
    ("PyLong_AsUnsignedLongMask", str(2**64 - 1), f"-1 became {2**64 - 1} without an error"),
    ("PyLong_AsUnsignedLongMask", "3", "an int of 65 bits became 3 without an error"),
    ("PyUnicode_AsUTF8", "'a'", "cut at its first NUL: 3 bytes became 1"),
]
CONVERTED = r"""Int(5) = 5
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
"""The last that both hosts print."""


@contextmanager
def home(**more: str) -> Iterator[None]:
    """Where the host's Python finds its own modules, and NumPy."""
    with pytest.MonkeyPatch.context() as patch:
        paths = {"HOST_HOME": sys.base_prefix, "PYTHONPATH": str(Path(numpy.__file__).parents[1])}
        for name, value in (paths | more).items():
            patch.setenv(name, value)
        yield


def ran(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=200)


def launched(host: str, *words: str) -> Launched:
    return launch([host, hosts.shared(), *words], quiet=True)


def of(asked: Hosted, function: str) -> list[HostCall]:
    return [call for call in asked.calls if call.function == function]


def changed(asked: Hosted) -> list[tuple[Any, ...]]:
    """The calls that changed how often the host's object is referred to, with its count before and after."""
    calls = [call for call in asked.calls if call.object_type == "A"]
    rows = [(call.function, call.references, call.references_after) for call in calls]
    return [row for row in rows if row[1] != row[2]]


def failed(asked: Hosted) -> list[tuple[Any, ...]]:
    return [(call.function, call.object_type, call.cleared) for call in asked.calls if call.failed]


def lost(asked: Hosted) -> list[tuple[Any, ...]]:
    return [(call.function, call.values[0], call.lost) for call in asked.calls if call.lost]


def assert_in_order(asked: Hosted, *first: str) -> None:
    """Members (`first` at the beginning), calls, keywords and operators are there in their order."""
    members = [call.values[0] for call in of(asked, "PyObject_GetAttrString") if call.values]
    assert members[: len(first)] == list(first)
    assert {"'arange'", "'reshape'", "'shape'", "'dtype'", "'open'"} <= set(members)
    assert [call.values for call in of(asked, "PyObject_SetAttrString")] == [("'x'",)]
    assert [call.object_type for call in of(asked, "PyNumber_Add")] == ["int", "str", "int"]
    assert of(asked, "PyDict_SetItemString")[0].values == ("'dtype'",)
    assert of(asked, "PyErr_Fetch") and of(asked, "PySlice_New") and of(asked, "PyIter_Next")


@contextmanager
def read_from_outside(host: str) -> Iterator[Any]:
    """The running host, attached to: one reference of its object is the host's own."""
    with hosts.waiting(host, hosts.shared(), "stay") as child:
        other = running.attach(child.pid)
        assert (other.inspect("a").references, other.inspect("cache['k'][0].x").value) == (3, "int 42")
        found = other.owners("a")
        named = {(one.kind, one.key) for one in found.owners if one.certain}
        assert named == {("global", "a"), ("item", "[0]")} and found.references - found.named == 1
        functions = [frame.function for thread in other.stacks().threads for frame in thread.frames]
        assert {"main", "sleep"} <= set(functions)
        yield other


def entered(host: str) -> list[dict[str, Any]]:
    """The hits of the preset `host`; three of them are where it runs a text."""
    done = ran(COMMAND, "break", "--startup", "--json", "--preset", "host", "--", host, hosts.shared())
    assert done.returncode == 0, done.stderr
    hits = json.loads(done.stdout[done.stdout.index("{") :])["facts"]["breaks"]["hits"]
    stacks = [[frame["function"] for frame in hit["stack"]["frames"]] for hit in hits]
    texts = [stack for stack in stacks if stack[0] == "PyRun_SimpleStringFlags"]
    assert len(texts) == 3 and all("main" in stack for stack in texts)
    return list(hits)
