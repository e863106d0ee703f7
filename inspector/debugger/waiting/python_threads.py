"""Python's threads of a stopped process: their names, frames, and the values on each frame's stack."""

# SPDX-License-Identifier: MIT
import re
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from inspector.debugger.attach.frames import frames_of, thread_states
from inspector.debugger.attach.object_layout import CODE_EXCEPTIONS
from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.runtime import Runtime
from inspector.debugger.memory.location_table import line_of
from inspector.debugger.memory.python_layout import UNTAGGED
from inspector.debugger.memory.remote_memory import Unreadable
from inspector.debugger.waiting.exception_table import live_depth
from inspector.facts.unknown import Unknown

FRAMES_MAX: Final = 400
_STACK_MAX: Final = 1_000
_LIBRARY: Final = re.compile(r"^<frozen |/python3\.\d+t?/(?!(site|dist)-packages)")
_BYTES: Final = 32
"""In a bytes object: its first byte."""


def is_of_library(file: str) -> bool:
    """Whether a file is of the standard library."""
    return bool(_LIBRARY.search(file))


class Frame(NamedTuple):
    """A frame of Python: its addresses, and the offset of its instruction in bytes."""

    address: int
    code: int
    offset: int


class PythonThread(NamedTuple):
    """A thread state: the kernel's thread id, pthread_self(), and its frames, innermost first."""

    state: int
    id: int
    ident: int
    frames: tuple[Frame, ...]


class PythonThreads:
    """The threads of one interpreter, while the process stands still."""

    def __init__(self, objects: Objects, found: Runtime) -> None:
        self.objects, self.found, self.word = objects, found, objects.memory.word
        self.threads = list(self._threads())
        self.names = dict(self._names())

    def _threads(self) -> Iterator[PythonThread]:
        for state in thread_states(self.objects, self.found):
            at = state + self.found.frames.native_thread_id
            yield PythonThread(state, self.word(at), self.word(at - 8), tuple(self._frames(state)))

    def _frames(self, state: int) -> Iterator[Frame]:
        yield from map(self.frame, frames_of(self.objects, self.found, state, FRAMES_MAX))

    def frame(self, at: int) -> Frame:
        """The frame at an address, of a thread or a coroutine."""
        where = self.found.frames
        code = self.word(at + where.code) & UNTAGGED
        offset = self.word(at + where.instruction) - code - where.bytecode
        return Frame(at, code, max(offset - (0 if where.instruction_before else 2), 0))

    def line(self, frame: Frame) -> str | Unknown:
        """ "file:line" where a frame is."""
        where, word = self.found.frames, self.word
        table = word(frame.code + where.line_table)
        first = self.objects.memory.read(frame.code + where.first_line, 4)
        raw = self.objects.memory.read(table + 32, min(word(table + 16), 1 << 16))
        number = line_of(raw, struct.unpack("<i", first)[0], frame.offset)
        return (
            Unknown("the code object has no line here") if number is None else f"{self.file(frame)}:{number}"
        )

    def _names(self) -> Iterator[tuple[int, str]]:
        """(pthread_self(), name) of the threads that `threading` knows."""
        objects = self.objects
        try:
            module = objects.named(self.found.modules, "threading")
            active = objects.named(objects.own_dict(module), "_active") if module else 0
            for key, thread, _ in objects.items(active) if active else ():
                said = {name: value for name, value, _ in objects.attributes(thread)}
                yield int(objects.values.brief(key)), objects.text(said.get("_name", 0)) or ""
        except (Unreadable, ValueError):
            return

    def function(self, frame: Frame) -> str:
        """The qualified name of a frame's function."""
        return self.objects.values.text(self.word(frame.code + self.found.frames.qualified_name), 200)

    def file(self, frame: Frame) -> str:
        """The file of a frame's code."""
        return self.objects.values.text(self.word(frame.code + self.found.frames.file_name), 300)

    def own(self, thread: PythonThread) -> Frame | None:
        """The innermost frame outside the standard library, else the innermost; None without a frame."""
        outer = (frame for frame in thread.frames if not is_of_library(self.file(frame)))
        return next(outer, thread.frames[0] if thread.frames else None)

    def variables(self, frame: Frame) -> dict[str, int]:
        """Name -> object of a frame's variables that are set."""
        found = ((name, self.word(slot) & UNTAGGED) for name, slot in self.objects.variables(frame.address))
        return {name: value for name, value in found if value}

    def live(self, frame: Frame) -> list[int]:
        """The values on the frame's evaluation stack that an exception there would leave: its `with` and
        `for` statements, outermost first. What lies above them may be old, and is left out."""
        table = self.word(frame.code + CODE_EXCEPTIONS)
        size = min(self.word(table + 16), 1 << 16)
        depth = live_depth(self.objects.memory.read(table + _BYTES, size), frame.offset)
        return self._values(frame, depth)

    def stack(self, frame: Frame) -> list[int]:
        """All words of the frame's evaluation stack; some may be old."""
        return self._values(frame, self._number(frame.code + self.found.where.code_stack))

    def _values(self, frame: Frame, count: int) -> list[int]:
        where = self.found.where
        start = frame.address + where.frame_variables + 8 * self._number(frame.code + where.code_variables)
        count = min(max(count, 0), _STACK_MAX)
        words = struct.unpack(f"<{count}Q", self.objects.memory.read(start, 8 * count)) if count else ()
        return [word & UNTAGGED for word in words]

    def _number(self, at: int) -> int:
        found: int = struct.unpack("<i", self.objects.memory.read(at, 4))[0]
        return found
