"""Report when data is materialized: lazy vectors by the extension, other libraries by the method that does.

A library's method is wrapped on its class while a listener exists, and restored after the last one ends; its
results and exceptions stay unchanged. Libraries that are imported later are not covered.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

from inspector import _native
from inspector.facts.conversion import Materialized
from inspector.facts.unknown import Unknown
from inspector.tracing.events.code_places import of_code, of_frame

MOST: Final = 10_000
"""Most events that one listener keeps."""


class Method(NamedTuple):
    """A method that materializes an object's data."""

    module: str
    name: str
    """Class and method: "Dataset.__getitem__"."""
    cause: str
    is_waiting: Callable[[Any], bool]
    """Whether the data of the instance is not materialized yet."""


def _attribute(x: Any, name: str) -> Any:
    return getattr(x, name, None)


METHODS: Final = (
    Method("pandas.core.indexes.range", "RangeIndex._data", "RangeIndex", lambda x: "_data" not in x._cache),
    Method(
        "xarray.core.indexing",
        "MemoryCachedArray.get_duck_array",
        "xarray's cache",
        lambda x: type(x.array).__name__ != "NumpyIndexingAdapter",
    ),
    Method("PIL.ImageFile", "ImageFile.load", "Image.load", lambda x: bool(_attribute(x, "tile"))),
    Method(
        "awkward._nplikes.virtual",
        "VirtualNDArray.materialize",
        "a virtual buffer",
        lambda x: not x.is_materialized,
    ),
    Method("dask.base", "DaskMethodsMixin.compute", "compute", lambda x: True),
    Method("h5py._hl.dataset", "Dataset.__getitem__", "a read of the file", lambda x: True),
    Method("h5py._hl.dataset", "Dataset.__array__", "a read of the file", lambda x: True),
)


class Materializations:
    """The data materialized between `begin` and `end`; several listeners may exist at once."""

    def __init__(self) -> None:
        self.rows: list[Materialized] = []
        self.left_out = 0

    def begin(self) -> None:
        """Begin to listen."""
        with _lock:
            if not _listeners:
                _native.lazy_tell(_vector)
                _replaced.extend(filter(None, map(_replace, METHODS)))
            _listeners.append(self)

    def end(self) -> None:
        """Stop listening; a second call does nothing."""
        with _lock:
            if self in _listeners:
                _listeners.remove(self)
            if not _listeners:
                _native.lazy_tell(None)
                while _replaced:
                    _put_back(*_replaced.pop())

    def add(self, row: Materialized) -> None:
        """Keep one event; those above MOST are only counted."""
        if len(self.rows) < MOST:
            self.rows.append(row)
        else:
            self.left_out += 1


_lock = threading.Lock()
_listeners: list[Materializations] = []
_replaced: list[tuple[type, str, Any, Any]] = []


def _tell(row: Materialized) -> None:
    for listener in tuple(_listeners):
        listener.add(row)


def _vector(told: tuple[type, tuple[Any, ...]]) -> None:
    """A lazy vector of ours was materialized (native/lazy/event.c)."""
    kind, (_, cause, code, instruction, _, cell, size, ns) = told
    name = f"{kind.__module__}.{kind.__qualname__}"
    site = of_code(code if isinstance(code, CodeType) else None, instruction, cell)
    _tell(Materialized(name, str(cause or site.text or "its elements were asked for"), size, ns, site))


def _replace(method: Method) -> tuple[type, str, Any, Any] | None:
    """Wrap a method: (class, name, the original, the wrapper); None if the class does not exist."""
    kind_name, name = method.name.split(".")
    module = sys.modules.get(method.module)
    kind = vars(module).get(kind_name) if module is not None else None
    original = vars(kind).get(name) if isinstance(kind, type) else None
    if original is None or not isinstance(kind, type):
        return None
    made = _function(original, method) if callable(original) else _Property(original, method)
    setattr(kind, name, made)
    return kind, name, original, made


def _put_back(kind: type, name: str, original: Any, made: Any) -> None:
    """Restore the method, unless other code has replaced our wrapper."""
    if vars(kind).get(name) is made:
        setattr(kind, name, original)


def _function(original: Any, method: Method) -> Any:
    @functools.wraps(original)
    def told(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _reported(method, self, lambda: original(self, *args, **kwargs))

    return told


class _Property:
    def __init__(self, original: Any, method: Method) -> None:
        self._original, self._method = original, method

    def __get__(self, instance: Any, owner: type) -> Any:
        def get() -> Any:
            return self._original.__get__(instance, owner)

        return get() if instance is None else _reported(self._method, instance, get)


def _reported(method: Method, instance: Any, call: Callable[[], Any]) -> Any:
    """The result of the call; reports the data that it materialized."""
    waiting = _asked(method, instance)
    began = time.monotonic_ns()
    result = call()
    if waiting:
        ns = time.monotonic_ns() - began
        kind = type(instance)
        frame: FrameType | None = sys._getframe(2)
        name = f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
        _tell(Materialized(name, method.cause, _bytes(instance, result), ns, of_frame(frame)))
    return result


def _asked(method: Method, instance: Any) -> bool:
    try:
        return method.is_waiting(instance)
    except Exception:  # a release with other attributes: report nothing, break nothing
        return False


def _bytes(instance: Any, result: Any) -> int | Unknown:
    """Bytes materialized, by the result, else by the instance."""
    for one in (result, instance):
        size = _attribute(one, "nbytes")
        if type(size) is int:
            return size
    return Unknown("the library does not say")
