"""Whether the C code of an op reads outside of its inputs: asked in a forked child, where pages beside copies
of them cannot be read. The children open no file and write to none.

An op is told only where a child with such a page died and one whose page beside it can be read did not.
"""

# SPDX-License-Identifier: MIT
import mmap
import resource
import signal
import sys
from collections.abc import Iterator
from typing import Any, Final, Literal

from inspector.adapters.base import type_module
from inspector.facts.unknown import Unknown
from inspector.objects.isolation import DIED, run

Side = Literal["reads past", "reads before"]
MOST_BYTES: Final = 1 << 24
"""Larger inputs are not copied."""
MOST_SHAPES: Final = 8
"""Of one op."""
DEADLINE_S: Final = 2.0
_given_up: Final[set[str]] = set()
"""C files of ops whose child did not end by itself, or could not be made: they are not asked again."""
_asked: Final[dict[tuple[Any, ...], tuple[tuple[int, Side], ...]]] = {}


def is_asked(node: Any) -> bool:
    """Whether its op is none of pytensor's own."""
    return type_module(type(node.op)).partition(".")[0] != "pytensor"


def reads_outside(thunk: Any, inputs: list[Any], source: str) -> tuple[tuple[int, Side], ...]:
    """(input, what the op does); asked once for each of its C files and the shapes that it is given."""
    given = {at: cell[0] for at, cell in enumerate(inputs) if cell is not None and _is_array(cell[0])}
    if not source or not given or sum(one.nbytes for one in given.values()) > MOST_BYTES:
        return ()
    key = (source, *((at, str(one.dtype), one.shape, one.strides) for at, one in given.items()))
    if key not in _asked:
        if source in _given_up or sum(one[0] == source for one in _asked) >= MOST_SHAPES:
            return ()
        try:
            _asked[key] = tuple(_found(thunk, inputs, given))
        except TimeoutError:
            _given_up.add(source)
            return ()
    return _asked[key]


def _found(thunk: Any, inputs: list[Any], given: dict[int, Any]) -> Iterator[tuple[int, Side]]:
    sides: tuple[Side, ...] = ("reads past", "reads before")
    for side in sides:
        if not _dies(thunk, inputs, list(given), side, True):
            continue
        for at in given:
            if _dies(thunk, inputs, [at], side, True) and not _dies(thunk, inputs, [at], side, False):
                yield at, side


def _dies(thunk: Any, inputs: list[Any], which: list[int], side: Side, guarded: bool) -> bool:
    def child() -> bool:
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
            resource.setrlimit(limit, (0, 0))
        for at in which:
            inputs[at][0] = _beside(inputs[at][0], side, guarded)
        thunk()
        return True

    size = sum(inputs[at][0].nbytes for at in which)
    done = run(child, DEADLINE_S, 8 * size + (1 << 28))
    if isinstance(done, Unknown) and not done.reason.startswith((DIED, "it raised")):
        raise TimeoutError(done.reason)
    return isinstance(done, Unknown) and done.reason == f"{DIED} SIGSEGV"


def _beside(x: Any, side: Side, guarded: bool) -> Any:
    """A copy with the same strides, which ends or begins at the border of a page."""
    low, high = _ends(x)
    page = mmap.PAGESIZE
    room = -(-(high - low) // page) * page
    block = mmap.mmap(-1, room + 2 * page)
    start = page + room - (high - low) if side == "reads past" else page
    numpy = sys.modules["numpy"]
    made = numpy.ndarray(x.shape, x.dtype, block, start - low, x.strides)
    made[...] = x
    if guarded:
        _protect(numpy.frombuffer(block, "u1").ctypes.data, (0, page + room), page)
    return made


def _protect(base: int, starts: tuple[int, ...], page: int) -> None:
    import ctypes

    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
    for start in starts:
        protect(base + start, page, 0)


def _ends(x: Any) -> tuple[int, int]:
    """The lowest and the highest byte, from the first element."""
    reach = [(n - 1) * step for n, step in zip(x.shape, x.strides, strict=True) if x.size]
    last = x.itemsize if x.size else 0
    return sum(one for one in reach if one < 0), sum(one for one in reach if one > 0) + last


def _is_array(x: Any) -> bool:
    numpy = sys.modules["numpy"]
    return type(x) is numpy.ndarray and not x.dtype.hasobject
