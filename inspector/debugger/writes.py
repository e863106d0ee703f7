"""`writes(x)`: each write to an object's memory while the block runs, by the processor's own watchpoints."""

from __future__ import annotations

import errno
import os
import struct
import threading
from collections.abc import Iterator
from pathlib import PurePath
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from inspector import _native
from inspector.adapters.registry import adapter_of
from inspector.debugger import proc
from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.runtime import runtime
from inspector.debugger.merge import is_plumbing, merged
from inspector.debugger.remote_memory import RemoteMemory, Unreadable
from inspector.errors import InspectorError
from inspector.facts.stack import Frame, Stack
from inspector.facts.unknown import Address, Unknown
from inspector.facts.write import Write, Writes
from inspector.places import place

WORDS_MAX: Final = 4
BYTES_MAX: Final = 32
BUDGET: Final = 1000
_NO_LINE: Final = Unknown("no debug information is read here")
_LETTERS: Final = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I"}
"""Kind and bytes of an element -> struct's letter."""


class Watched(NamedTuple):
    """A range of bytes, and how its words are shown."""

    name: str
    address: int
    bytes: int
    letter: str
    """struct's letter of an element; "" for hex."""


class WriteWatch:
    """`with writes(x) as found: ...`; afterwards `found.facts`, iterable."""

    def __init__(self, x: Any, part: str = "bytes", budget: int = BUDGET) -> None:
        self._kept = x  # what is watched may not go while it is
        self._watched, self._budget = _range(x, part), budget
        self._words = list(_words(self._watched))
        self._means = ""
        self._facts: Writes | Unknown = Unknown("nothing was watched yet: enter the context first")

    def __enter__(self) -> Self:
        """Arm. Raises InspectorError: writes-refused, session-running."""
        try:
            events = _native.writes_arm(self._words, proc.threads(os.getpid()), self._budget)
        except RuntimeError as error:
            raise InspectorError(
                "a watch on writes is running already.",
                slug="watch-running",
                why=str(error),
                do="leave it first: the processor has four watchpoints in all",
            ) from None
        except OSError as error:
            raise _refused(error) from None
        count = len(self._words)
        self._means = f"{count} hardware watchpoint{'' if count == 1 else 's'}, {events} events"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Disarm, and make the facts."""
        rows, counted, silent = _native.writes_disarm()
        made = tuple(self._write(i, *row) for i, row in enumerate(rows, 1))
        watched = self._watched
        self._facts = Writes(
            watched.name, Address(watched.address), watched.bytes, self._means, made, counted, silent
        )

    @property
    def facts(self) -> Writes:
        """What was written. Raises RuntimeError before the block has ended."""
        if isinstance(self._facts, Unknown):
            raise RuntimeError(self._facts.reason)
        return self._facts

    def __iter__(self) -> Iterator[Write]:
        return iter(self.facts)

    def __len__(self) -> int:
        return len(self.facts)

    def _write(
        self,
        number: int,
        at_ns: int,
        thread: int,
        word: int,
        before: int,
        after: int,
        native: list[int],
        python: list[tuple[str, str, int, int]],
    ) -> Write:
        address, size = self._words[word]
        letter = self._watched.letter
        frames = merged(map(_native_frame, native), _segments(python))
        name = (
            threading.main_thread().name if thread == os.getpid() else proc.thread_name(os.getpid(), thread)
        )
        stack = Stack(thread, name, frames, _version(), len(native) >= 40)
        said = (_value(before, size, letter), _value(after, size, letter))
        return Write(number, at_ns, address - self._watched.address, *said, stack)


def _version() -> str:
    import platform

    return platform.python_version()


def _value(word: int, size: int, letter: str) -> str:
    raw = word.to_bytes(8, "little")[:size]
    if letter and size % struct.calcsize(letter) == 0:
        return ", ".join(f"{one[0]:.6g}" for one in struct.iter_unpack(f"<{letter}", raw))
    return f"0x{int.from_bytes(raw, 'little'):0{2 * size}x}"


def _native_frame(address: int) -> Frame:
    where = place(address - 1)  # a return address is one behind its call
    library = where.library if isinstance(where.library, Unknown) else PurePath(where.library).name
    name = f"{address:#x}" if isinstance(where.symbol, Unknown) else where.symbol
    return Frame("native", name, library, _NO_LINE, is_plumbing(name, library))


def _segments(rows: list[tuple[str, str, int, int]]) -> list[list[Frame]]:
    """Python frames by entry from C, innermost first."""
    found: list[list[Frame]] = [[]]
    for name, file, line, from_c in rows:
        found[-1].append(Frame("python", name, file, f"{file}:{line}", False))
        if from_c:
            found.append([])
    return [segment for segment in found if segment]


def _range(x: Any, part: str) -> Watched:
    """What is to be watched. Raises InspectorError: nothing-to-watch, too-wide, bad-option."""
    if part == "refcount":
        return Watched("refcount", id(x), 8, "q") if _is_counted() else Watched("refcount", id(x), 4, "I")
    if part.startswith("."):
        return Watched(part, _slot(x, part[1:]), 8, "")
    if part != "bytes":
        raise InspectorError(
            f"not a part of an object: {part[:40]!r}.", slug="bad-option", do="bytes, refcount or .attribute"
        )
    adapter = adapter_of(type(x))
    spans = adapter.spans(x) if adapter is not None else ()
    if len(spans) != 1:
        raise InspectorError(
            f"a {type(x).__name__} lays no single range of bytes open.",
            slug="nothing-to-watch",
            why="bytes are watched of arrays, tensors, buffers and their elements",
            do="an element, x[3:4], or part='refcount' or part='.attribute'",
        )
    size = spans[0].stop - spans[0].start
    letter = _LETTERS.get(getattr(getattr(x, "dtype", None), "str", "")[1:], "") if size <= BYTES_MAX else ""
    return Watched("bytes", spans[0].start, size, letter)


def _is_counted() -> bool:
    """Whether the count fills the whole word (3.11); from 3.12 on it is its low half."""
    import sys

    return sys.version_info < (3, 12)


def _slot(x: Any, name: str) -> int:
    """Where an attribute is stored: a slot, the instance's values, an entry of its dict."""
    memory = RemoteMemory(os.getpid())
    try:
        found = runtime(memory)
        objects = Objects(memory, found.frames, found.where)
        for said, _, slot in objects.attributes(id(x)):
            if said == name:
                return slot
    except Unreadable:
        pass
    finally:
        memory.close()
    raise InspectorError(
        f"a {type(x).__name__} stores no attribute {name[:40]!r}.",
        slug="nothing-to-watch",
        why="what a property computes has no place in memory",
        do="watch what it is computed from",
    )


def _words(watched: Watched) -> Iterator[tuple[int, int]]:
    """The range in aligned words of 8, 4, 2 or 1 bytes. Raises InspectorError too-wide."""
    at, stop = watched.address, watched.address + watched.bytes
    words: list[tuple[int, int]] = []
    while at < stop and len(words) <= WORDS_MAX:
        size = next(size for size in (8, 4, 2, 1) if at % size == 0 and at + size <= stop)
        words.append((at, size))
        at += size
    if at < stop or len(words) > WORDS_MAX or not words:
        raise InspectorError(
            f"{watched.bytes:,} bytes are too many to watch.",
            slug="too-wide",
            why=f"the processor has {WORDS_MAX} watchpoints of at most 8 bytes, aligned",
            do="watch an element, x[3:4]; `%inspect_watch x` tells after each cell whether x changed",
        )
    yield from words


def _refused(error: OSError) -> InspectorError:
    why = f"perf_event_open: {error.strerror}"
    if error.errno in (errno.EACCES, errno.EPERM):
        return InspectorError(
            "the system refuses watchpoints.",
            slug="writes-refused",
            why=why,
            do="sudo sysctl kernel.perf_event_paranoid=2; in a container: --cap-add=PERFMON. "
            "Meanwhile `%inspect_debug watch EXPR` does it by gdb, in a forked child, 340 us a write",
        )
    do = "end the debugger or watch that holds the processor's four watchpoints"
    return InspectorError("the watchpoints cannot be had.", slug="writes-refused", why=why, do=do)
