"""What an op promises pytensor, checked around one run of a node: what it writes, shows, and counts."""

# SPDX-License-Identifier: MIT
import inspect
import re
import sys
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from inspector.facts.nodes import Breach

WHOLE_BYTES: Final = 1 << 16
"""An input up to this size is compared whole; of a larger one SAMPLE elements."""
SAMPLE: Final = 256
_DOES: Final = {
    (
        "over-released",
        "dtype",
    ): r"PyArray_\w+\(.*PyArray_(?:DESCR|DTYPE)\(",  # it takes over what is only borrowed
    ("over-released", ""): r"Py_X?DECREF\(",
    ("leaked", "dtype"): r"Py_X?INCREF\(.*PyArray_(?:DESCR|DTYPE)\(",
    ("leaked", ""): r"Py_X?INCREF\(",
}
"""What C code that does so looks like."""


class Promises:
    """A node's inputs before it runs; `broken` afterwards says what it did and did not declare."""

    def __init__(self, node: Any, thunk: Any, inputs: list[Any], outputs: list[Any]) -> None:
        self.node, self.thunk, self.inputs, self.outputs = node, thunk, inputs, outputs
        given, old = self._given(), [cell[0] for cell in outputs if cell is not None]
        self.samples = {at: _sample(x) for at, x in given.items() if not self._may_change(at, x, given, old)}
        self.counts = {at: (sys.getrefcount(x), sys.getrefcount(x.dtype)) for at, x in given.items()}
        self.is_first = all(one is None for one in old)

    def _given(self) -> dict[int, Any]:
        ndarray = sys.modules["numpy"].ndarray
        cells = ((at, cell) for at, cell in enumerate(self.inputs) if cell is not None)
        return {at: cell[0] for at, cell in cells if isinstance(cell[0], ndarray)}

    def _may_change(self, at: int, x: Any, given: dict[int, Any], old: list[Any]) -> bool:
        """Whether the op declares the write, or the input lies in memory that it may write."""
        overlap = sys.modules["numpy"].may_share_memory
        written = {
            one for many in (getattr(self.node.op, "destroy_map", None) or {}).values() for one in many
        }
        own = [one for one in old if isinstance(one, type(x))]
        return at in written or any(
            overlap(x, one) for one in [*(given[i] for i in written & {*given}), *own]
        )

    def broken(self) -> Iterator[tuple[int, Breach]]:
        """(input, what the op did to it), by its number; call it once, at once after the node."""
        given, counts = self._given(), self.counts
        now = {at: (sys.getrefcount(x), sys.getrefcount(x.dtype)) for at, x in given.items()}
        for at, before in self.samples.items():
            if at in given and _sample(given[at]) != before:
                yield at, Breach("writes", "", 0, "", True)
        if getattr(self.thunk, "cthunk", None) is None or not self.is_first:
            return
        made = [cell[0] for cell in self.outputs if cell is not None and hasattr(cell[0], "dtype")]
        for at, x in given.items():
            kept = sum((one is x) + (one.base is x) for one in made)
            for what, number, expected in (("", 0, kept), ("dtype", 1, _held(x.dtype, made, given))):
                lost = now[at][number] - counts[at][number] - expected
                if lost and (not what or at == min(i for i, one in given.items() if one.dtype is x.dtype)):
                    did: Any = "over-released" if lost < 0 else "leaked"
                    place = _place_of(self.node.op, generated(self.thunk)[0], did, what)
                    yield at, Breach(did, what, lost, place, threading.active_count() == 1)


def _held(dtype: Any, made: list[Any], given: dict[int, Any]) -> int:
    """References to a dtype of the arrays that a node made; not of an input that it handed on."""
    known = {id(one) for x in given.values() for one in (x, x.base)}
    fresh = {id(one): one for out in made for one in (out, out.base) if id(one) not in known}
    return sum(getattr(one, "dtype", None) is dtype for one in fresh.values())


def _sample(x: Any) -> bytes:
    if x.dtype.hasobject:
        return b""
    if x.nbytes <= WHOLE_BYTES:
        return bytes(x.tobytes())
    numpy = sys.modules["numpy"]
    return bytes(x.flat[numpy.linspace(0, x.size - 1, SAMPLE).astype("intp")].tobytes())


def generated(thunk: Any) -> tuple[str, int]:
    """The C file that was made for a thunk, and the line where its op's own code begins; ("", 0) for none."""
    made = getattr(thunk, "thunk", None)
    library = getattr(getattr(made, "module", None), "__file__", None)
    return _begins(str(Path(library).with_name("mod.cpp"))) if library else ("", 0)


@lru_cache(512)
def _begins(path: str) -> tuple[str, int]:
    for number, line in enumerate(_lines(path), 1):
        if line.startswith("// Op class"):
            return path, number
    return (path, 1) if _lines(path) else ("", 0)


@lru_cache(64)
def _lines(path: str) -> tuple[str, ...]:
    try:
        return tuple(Path(path).read_text(errors="replace").splitlines())
    except OSError:
        return ()


def _place_of(op: Any, path: str, did: str, what: str) -> str:
    """ "op.py:19": the one line of the op's own source that can do so; "" where there are none or several."""
    try:
        lines, first = inspect.getsourcelines(type(op))
        file = inspect.getsourcefile(type(op)) or ""
    except (OSError, TypeError):
        return ""
    begin, pattern = _begins(path)[1], re.compile(_DOES[did, what])
    for source, start in ((lines, first), (_lines(file), 1)):  # a template may stand beside the class
        found = [start + at for at, line in enumerate(source) if pattern.search(line)]
        if found and any(map(pattern.search, _lines(path)[begin:])):
            return f"{file}:{found[0]}" if len(found) == 1 else ""
    return ""
