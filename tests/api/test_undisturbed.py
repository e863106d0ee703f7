"""A look leaves every kind of object of the suite as it was, whatever is asked.

The objects are those of the other rooms' tests (bad objects, the adapters' samples) and the kinds of holder
and state that only the language has. What is compared: struct, counts, `__dict__` and pages
(tests/specimens/fingerprints.py).
"""

# SPDX-License-Identifier: MIT
import array
import collections
import contextvars
import ctypes
import dataclasses
import enum
import functools
import gc
import importlib.util
import io
import itertools
import mmap
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import bad_objects
import pytest

import inspector

pytestmark = pytest.mark.core


class Plain:
    """An instance whose attributes are inline until its `__dict__` is asked for."""

    def method(self) -> None: ...


@dataclasses.dataclass(slots=True)
class Slotted:
    left: object = 1


class Listed(list):  # type: ignore[type-arg]
    pass


def plain() -> Plain:
    made = Plain()
    made.kept = 1  # type: ignore[attr-defined]
    return made


def materialized() -> Plain:
    made = plain()
    assert vars(made)
    return made


def watched() -> Plain:
    made = plain()
    bad_objects.KEPT.append(weakref.ref(made))
    return made


def exported() -> bytearray:
    made = bytearray(100)
    bad_objects.KEPT.append(memoryview(made))
    return made


def started(numbers: Any) -> Any:
    next(numbers)
    return numbers


def counted() -> Iterator[int]:
    yield from (1, 2)


async def given() -> Any:
    yield 1


def raised() -> ValueError:
    try:
        raise ValueError("x")
    except ValueError as error:
        return error


LANGUAGE: dict[str, Callable[[], object]] = {
    "instance": plain,
    "instance with its dict": materialized,
    "instance with a weak reference": watched,
    "slots": Slotted,
    "subclass of list": lambda: Listed([1]),
    "enum": lambda: enum.Enum("Colour", "RED").RED,  # type: ignore[attr-defined]
    "namedtuple": lambda: collections.namedtuple("Pair", "a b")(1, 2),
    "int": lambda: 10**100,
    "float": lambda: 2.5 * len("ab"),
    "str": lambda: "é" * len("abc"),
    "bytes": lambda: bytes(10),
    "exported bytearray": exported,
    "list": lambda: [1, [2]],
    "tuple": lambda: (1, []),
    "dict": lambda: {"a": 1, 2: []},
    "set": lambda: {1, 2},
    "frozenset": lambda: frozenset([1, 2]),
    "deque": lambda: collections.deque([1]),
    "OrderedDict": lambda: collections.OrderedDict(a=1),
    "defaultdict": lambda: collections.defaultdict(list, a=1),
    "range": lambda: range(1, 5),
    "slice": lambda: slice(1, 2),
    "array": lambda: array.array("d", [1.0]),
    "mmap": lambda: mmap.mmap(-1, 3 * mmap.PAGESIZE),
    "memoryview": lambda: memoryview(bytearray(12)).cast("i"),
    "ctypes": lambda: (ctypes.c_int * 4)(),
    "py_object": lambda: ctypes.py_object([]),
    "class": lambda: type("Made", (), {"a": 1}),
    "function": lambda: lambda x=1: x,
    "bound method": lambda: Plain().method,
    "builtin method": lambda: [].append,
    "partial": lambda: functools.partial(print, 1),
    "cache": lambda: functools.lru_cache(len),
    "property": lambda: property(len),
    "cell": lambda: types.CellType(1),
    "generator": counted,
    "running generator": lambda: started(counted()),
    "async generator": given,
    "iterator": lambda: started(iter([1, 2])),
    "zip": lambda: zip([1], [2], strict=True),
    "chain": lambda: itertools.chain([1]),
    "tee": lambda: started(itertools.tee([1, 2])[0]),
    "dict view": lambda: {"a": 1}.values(),
    "mappingproxy": lambda: types.MappingProxyType({"a": 1}),
    "weak reference": lambda: weakref.ref(Plain),
    "exception": raised,
    "traceback": lambda: raised().__traceback__,
    "module": lambda: types.ModuleType("made"),
    "namespace": lambda: types.SimpleNamespace(a=1),
    "context variable": lambda: contextvars.ContextVar("made"),
    "thread-local": threading.local,
    "lock": threading.Lock,
    "file": lambda: io.BytesIO(b"abc"),
}


@functools.cache
def contract() -> ModuleType:
    path = Path(__file__).parents[1] / "adapters" / "test_contract.py"
    spec = importlib.util.spec_from_file_location("adapters_contract", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ASKED: dict[str, dict[str, Any]] = {
    "default": {},
    "owners": {"scan": True},
    "ask": {"ask": True},
    "chain and retained": {"also": ("chain", "retained")},
}


def look(box: Any, options: dict[str, Any]) -> None:
    report = inspector.inspect(box.object, name="x", **options)
    assert report.to_text()


def assert_undisturbed(box: Any, asked: str, fingerprint: Callable[[object], Any]) -> None:
    before = fingerprint(box.object)
    look(box, ASKED[asked])
    after = fingerprint(box.object)
    assert after == before


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("kind", LANGUAGE)
def test_an_object_of_the_language(kind: str, asked: str, fingerprint: Callable[[object], Any]) -> None:
    box: Any = bad_objects.Box()
    box.object = LANGUAGE[kind]()
    assert_undisturbed(box, asked, fingerprint)
    bad_objects.KEPT.clear()


@pytest.mark.parametrize("asked", [one for one in ASKED if one != "ask"])  # which runs code of the object
@pytest.mark.parametrize("case", bad_objects.CASES)
def test_a_bad_object(case: str, asked: str, fingerprint: Callable[[object], Any]) -> None:
    box = bad_objects.boxed(case)
    assert_undisturbed(box, asked, fingerprint)
    bad_objects.reset()


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("library", contract().PARAMETERS)
def test_an_object_of_a_library(library: str, asked: str, fingerprint: Callable[[object], Any]) -> None:
    samples = contract().samples(library)
    if asked == "owners":  # a search of all memory takes a second: once for each type
        samples = {type(made): made for made in samples}.values()
    for made in samples:
        box: Any = bad_objects.Box()
        box.object = made
        # the first time may fill the library's own caches
        look(box, ASKED["default" if asked == "owners" else asked])
        gc.collect()  # else garbage that holds it may go meanwhile
        assert_undisturbed(box, asked, fingerprint)


@pytest.mark.parametrize("asked", [*ASKED, "leaks"])
def test_the_types_that_numpy_has_once_keep_their_counts(asked: str) -> None:
    """NumPy 2.4's empty and zeros keep a reference of float64 where no dtype is given: we always give one."""
    import numpy as np

    dtypes = [np.dtype(code) for code in "?bhilqBHILQefdgFDGOSUV"]
    box: Any = bad_objects.Box()
    box.object = np.asarray([1.0, 2.0])[1:]

    def once() -> list[int]:
        if asked == "leaks":
            inspector.leaks("numpy").run(lambda: np.unique([1, 2, 2]), 1)
        else:
            look(box, ASKED[asked])
        return [sys.getrefcount(dtype) for dtype in dtypes]

    assert once() and once() == once() == once()


def test_a_disturbed_object_is_noticed(fingerprint: Callable[[object], Any]) -> None:
    one, other = plain(), bytearray(8)
    before = fingerprint(one), fingerprint(other)
    vars(one)
    kept = memoryview(other)
    assert fingerprint(one) != before[0] and fingerprint(other) != before[1]
    kept.release()
