"""Prints for each kind what `inspector.retained` says, and what is freed when an object of it is deleted.

The witnesses: tracemalloc counts the bytes that were asked of Python's allocators and NumPy's; Arrow its own.
Under PYTHONMALLOC=malloc glibc is asked, which gives every block.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import contextlib
import contextvars
import ctypes
import dataclasses
import datetime
import functools
import gc
import heapq
import importlib
import io
import itertools
import json
import logging.handlers
import os
import pickle
import queue
import re
import sqlite3
import sys
import threading
import tracemalloc
import types
import weakref
import xml.etree.ElementTree
import xml.parsers.expat  # noqa: F401 - of a kind
import zipfile
from typing import Any

import kinds

import inspector

Pair = collections.namedtuple("Pair", "a b")


class Structure(ctypes.Structure):
    _fields_ = (("a", ctypes.c_double * 20),)


class Plain:
    def __init__(self, a: Any) -> None:
        self.a = a

    def method(self) -> None: ...


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a: Any) -> None:
        self.a = a


class Zone(datetime.tzinfo):
    def __init__(self, size: int) -> None:
        self.a = bytes(size)


class Weak:
    __slots__ = ("__weakref__", "a")


@dataclasses.dataclass
class Record:
    a: int
    b: bytes


def grown(x: Any) -> Any:
    for n in range(100_000):
        x.append(n % 100)
    return x


def written(file: Any, text: Any) -> Any:
    for _ in range(1_000):
        file.write(text * 1_000)
    return file


def read(file: Any) -> Any:
    file.seek(5)
    file.read(9)
    return file


def default(count: int) -> Any:
    x: Any = collections.defaultdict(list)
    for n in range(count):
        x[n + 10**6].append(n + 10**7)
    return x


def with_dict(count: int) -> Any:
    x = Plain(1)
    x.__dict__.update({f"name {n}": n + 10**6 for n in range(count)})
    return x


def linked(count: int) -> Any:
    x: Any = None
    for n in range(count):
        x = (n + 10**6, x)
    return x


def cycle(size: int) -> Any:
    x = Plain(bytes(size))
    x.me = x  # type: ignore[attr-defined]
    return x


def tree(count: int) -> Any:
    root: Any = {"children": []}
    root["children"] = [{"parent": root, "n": n + 10**6} for n in range(count)]
    return root


def closure(value: Any) -> Any:
    return lambda: value


def defaults(value: Any) -> Any:
    def f(x: Any = value) -> Any:
        return x

    return f


def cached(count: int) -> Any:
    f = functools.lru_cache(maxsize=None)(lambda n: bytes(500))
    for n in range(count):
        f(n + 10**6)
    return f


def started(value: Any) -> Any:
    def g(x: Any) -> Any:
        yield 1
        yield x

    made = g(value)
    next(made)
    return made


def coroutine(value: Any) -> Any:
    async def f(x: Any) -> Any:
        return x

    return f(value)


def advanced_tee(count: int) -> Any:
    first, second = itertools.tee(n + 10**6 for n in range(count))
    for _ in range(count - 1):
        next(first)
    return [first, second]


def raised(value: Any) -> Any:
    def f(x: Any) -> Any:
        raise ValueError

    try:
        f(value)
    except ValueError as error:
        return error


def module(value: Any) -> Any:
    made = types.ModuleType("made")
    made.a = value  # type: ignore[attr-defined]
    return made


def context(value: Any) -> Any:
    made = contextvars.Context()
    made.run(VARIABLE.set, value)
    return made


VARIABLE: Any = contextvars.ContextVar("VARIABLE")


def queued(count: int) -> Any:
    x: Any = queue.Queue()
    for n in range(count):
        x.put(bytes(100))
    return x


def heap_of(count: int) -> Any:
    x: Any = []
    for n in range(count):
        heapq.heappush(x, (-n - 10**6, bytes(50)))
    return x


def weak_values(count: int) -> Any:
    held = [Weak() for _ in range(count)]
    return [held, weakref.WeakValueDictionary(dict(enumerate(held)))]


def weak_keys(count: int) -> Any:
    held = [Weak() for _ in range(count)]
    return [held, weakref.WeakKeyDictionary({x: bytes(100) for x in held})]


def future(value: Any) -> Any:
    made = asyncio.Future(loop=LOOP)
    made.set_result(value)
    return made


LOOP = asyncio.new_event_loop()


def memo(count: int) -> Any:
    made = pickle.Pickler(io.BytesIO())
    made.dump([bytes(100) for _ in range(count)])
    return made


def advanced(x: Any) -> Any:
    next(x)
    return x


def asynchronous(value: Any) -> Any:
    async def g(x: Any) -> Any:
        yield x

    return g(value)


class Cached(Plain):
    @functools.cached_property
    def b(self) -> bytes:
        return bytes(self.a)


def with_cached_property(size: int) -> Any:
    x = Cached(size)
    assert x.b
    return x


def stacked(value: Any) -> Any:
    made = contextlib.ExitStack()
    made.callback(closure(value))
    return made


def framed(value: Any) -> Any:
    return sys._getframe()


def chained(value: Any) -> Any:
    try:
        try:
            raise KeyError(value)
        except KeyError as error:
            raise ValueError from error
    except ValueError as error:
        return error


def local(value: Any) -> Any:
    made = threading.local()
    made.a = value
    return made


def done(value: Any) -> Any:
    made: Any = concurrent.futures.Future()
    made.set_result(value)
    return made


def fed(parser: Any) -> Any:
    (parser.feed if hasattr(parser, "feed") else parser.Parse)("<a>" + "<b/>" * 200_000)
    return parser


def database() -> Any:
    made = sqlite3.connect(":memory:")
    made.execute("create table made(a)")
    made.executemany("insert into made values(?)", [("x" * 100,)] * 5_000)
    return made


def unpickled(count: int) -> Any:
    made = pickle.Unpickler(io.BytesIO(pickle.dumps([b"%99d" % n for n in range(count)])))
    made.load()
    return made


def zipped(count: int) -> Any:
    made = zipfile.ZipFile(io.BytesIO(), "w")
    for n in range(count):
        made.writestr(f"name{n}", bytes(3_000))
    return made


def logged(count: int) -> Any:
    made = logging.Logger("made")
    made.addHandler(logging.handlers.MemoryHandler(10**6))
    for n in range(count):
        made.error("text %d", n)
    return made


def asynchronous_queue(count: int) -> Any:
    x: Any = asyncio.Queue()
    for _ in range(count):
        x.put_nowait(bytes(100))
    return x


def asked(index: Any, key: Any) -> Any:
    """An index with its hash table."""
    index.get_loc(key)
    return index


def filled(array: Any, field: str) -> Any:
    for n in range(len(array)):
        array[field][n] = bytes(100)
    return array


def shared(array: Any) -> Any:
    return [array[n:] for n in range(50)]


class Counts(ctypes.Structure):
    """mallinfo2's; the fifth are bytes of blocks mapped apart, the eighth those of the others."""

    _fields_ = tuple((f"count{n}", ctypes.c_size_t) for n in range(10))


def mapped() -> int:
    """Bytes that mmap mapped without a file."""
    with open("/proc/self/maps") as rows:
        spans = [row.split(maxsplit=1)[0].split("-") for row in rows if "/dev/zero" in row]
    return sum(int(stop, 16) - int(start, 16) for start, stop in spans)


def used() -> int:
    gc.collect()
    if not tracemalloc.is_tracing():
        (ask := ctypes.CDLL(None).mallinfo2).restype = Counts
        return int((told := ask()).count4 + told.count7)
    pool = mapped() + (sys.modules["pyarrow"].total_allocated_bytes() if "pyarrow" in sys.modules else 0)
    return int(tracemalloc.get_traced_memory()[0]) + int(pool)


def row(expression: str, space: dict[str, Any]) -> list[Any]:
    """[what is said, bytes freed, blocks freed: of malloc each costs 24 bytes more]."""
    exec(f"x = {expression}\ninspector.retained(x)", space)
    gc.collect()
    told = eval("inspector.retained(x)", space)
    said, objects = told.retained_bytes, 0 if tracemalloc.is_tracing() else 3 * told.objects
    before, blocks = used(), sys.getallocatedblocks()
    del space["x"]
    return [
        said if isinstance(said, int) else said.reason,
        before - used(),
        objects or blocks - sys.getallocatedblocks(),
    ]


IMPORTED = {
    "OTHERS": "import awkward as ak, bitarray, cffi, dask.array as da, dask.bag as db, PIL.Image\n"
    "import scipy.sparse as sp, xarray as xr",
    "UNTOLD": "import h5py, jax.numpy as jnp, lxml.etree, PIL.Image, polars as pl, pyarrow as pa\n"
    "import duckdb, pyarrow.dataset, scipy.sparse.linalg, scipy.spatial, torch",
}


def main(names: list[str]) -> None:
    space: dict[str, Any] = {**globals(), "inspector": inspector}
    asked: dict[str, str] = {}
    for name in names:
        asked |= getattr(kinds, name)
        if name not in ("STANDARD", "STRUCTS"):
            exec("import numpy as np", space)
        if name == "FRAMES":
            exec("import pandas as pd, pyarrow as pa", space)
        exec(IMPORTED.get(name, ""), space)
    words = {word for expression in asked.values() for word in re.findall(r"[a-z]\w*", expression)}
    for name in (words & sys.stdlib_module_names) - space.keys():
        space[name] = importlib.import_module(name)
    if os.environ.get("PYTHONMALLOC") != "malloc":
        tracemalloc.start()
    for expression in asked.values():  # what the first use of each imports and caches
        row(expression, space)
    print(json.dumps({name: row(expression, space) for name, expression in asked.items()}))


if __name__ == "__main__":
    main(sys.argv[1:])
