"""The largest objects of a process: the path that holds each, and the sentence that names most of them."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
from typing import Any

import pytest
from apart import printed

TELL = """
import inspector, json
found = inspector.memory(largest=4)
print(json.dumps([[answer.text for answer in found.answers if answer.slug == "held"],
  [(one.type_name, one.path) for one in found.largest]]))
"""
NUMBERS = "bytearray(b'x') * 60_000_000"
KEPT: dict[str, tuple[str, str, str]] = {
    "generator": (
        f"def rows():\n    table = {NUMBERS}\n    yield 1\nit = rows(); next(it)",
        "bytearray",
        "it.gi_frame.f_locals['table']",
    ),
    "traceback": (
        f"def f():\n    huge = {NUMBERS}\n    1 / 0\nfailed = None\n"
        "try: f()\nexcept ZeroDivisionError as error: failed = error",
        "bytearray",
        "failed → … → huge of f",
    ),
    "weak keys": (
        f"import weakref\nclass K: pass\nkey, d = K(), weakref.WeakKeyDictionary()\nd[key] = [{NUMBERS}]",
        "bytearray",
        "d.data[…][0]",
    ),
    "finalize": (
        f"import weakref\nclass K: pass\nkey = K()\nweakref.finalize(key, len, {NUMBERS})",
        "bytearray",
        "weakref.finalize._registry[…].args[0]",
    ),
    "default of a variable": (
        f"import contextvars\nv = contextvars.ContextVar('v', default={NUMBERS})",
        "bytearray",
        "v → its default",
    ),
    "value of a variable": (
        f"import contextvars\nv = contextvars.ContextVar('request')\nv.set({NUMBERS}) and None",
        "bytearray",
        "ContextVar request",
    ),
    "part of a value of a variable": (
        f"import contextvars\nv = contextvars.ContextVar('request')\nv.set(['a', {NUMBERS}]) and None",
        "bytearray",
        "ContextVar request → [1]",
    ),
    "mapping": ("import mmap\nm = mmap.mmap(-1, 60_000_000)\nm[:] = b'x' * 60_000_000", "mmap", "m"),
}


def told(program: str) -> Any:
    return json.loads(printed("-c", program + TELL))


@pytest.mark.core
@pytest.mark.parametrize("name", KEPT)
def test_what_holds_the_largest_object_is_said(name: str) -> None:
    program, kind, path = KEPT[name]
    said, largest = told(program)
    assert largest[0] == [kind, path]
    assert said == [f"60 MB of it are one {kind}, held by `{path}`."]


@pytest.mark.core
def test_what_a_thread_keeps_to_itself() -> None:
    program = (
        "import threading\nlocal, ready, stop = threading.local(), threading.Event(), threading.Event()\n"
        f"def work():\n    local.buffer = {NUMBERS}\n    ready.set()\n    stop.wait()\n"
        "threading.Thread(target=work, daemon=True).start()\nready.wait()"
    )
    _, largest = told(program)
    assert largest[0] == ["bytearray", "local.buffer in a thread"]


@pytest.mark.core
def test_shared_memory_is_held_by_its_own_object() -> None:
    program = (
        "from multiprocessing.shared_memory import SharedMemory\n"
        "kept = [SharedMemory(create=True, size=60_000_000)]\nkept[0].buf[:] = b'x' * 60_000_000\n"
        "view = memoryview(kept[0]._mmap)[5:]\nkept[0].unlink()"
    )
    said, largest = told(program)
    assert largest[0] == ["SharedMemory", "kept[0]"]
    assert said == ["60 MB of it are one SharedMemory, held by `kept[0]`."]


@pytest.mark.core
def test_objects_of_one_name_are_told_together() -> None:
    said, largest = told("history = [bytes(b'x') * 20_000_000 for _ in range(4)]\nother = 1")
    assert sorted(path for _, path in largest) == [f"history[{n}]" for n in range(4)]
    assert said == ["At least 80 MB of it hang on `history`: 4 of the largest objects."]


@pytest.mark.core
def test_small_objects_are_no_answer() -> None:
    said, _ = told("a = bytes(b'x') * 500_000")
    assert said == []


@pytest.mark.libraries
@pytest.mark.parametrize(
    ("made", "path"),
    [("[pd.DataFrame({'a': np.arange(5_000_000.0)})]", "x[0]"), ("pd.Series(np.arange(5_000_000.0))", "x")],
)
def test_a_table_is_held_by_itself(made: str, path: str) -> None:
    _, largest = told(f"import numpy as np, pandas as pd\nx = {made}")
    assert largest[0] == ["ndarray", path]
