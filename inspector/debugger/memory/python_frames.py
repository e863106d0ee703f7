"""Read the Python frames of another process's thread from its memory; calls no code there."""

# SPDX-License-Identifier: MIT
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from inspector.debugger.memory.location_table import line_of
from inspector.debugger.memory.python_layout import UNTAGGED, Layout, layout
from inspector.debugger.memory.python_values import Values
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.facts.stack import Frame
from inspector.facts.unknown import Unknown

DEPTH_MAX: Final = 400
_FRAME_BYTES: Final = 96
_TABLE_BYTES_MAX: Final = 1 << 16
_THREADS_MAX: Final = 4096
_SIZE, _HEAD = 16, 16
"""Offset of the length of bytes and str, which the hash follows; and the size of both, in bytes."""


class _Code(NamedTuple):
    """A code object: the objects that it refers to, their contents, and its texts."""

    objects: tuple[tuple[int, bytes], ...]
    """Address and content of location table, file name and qualified name."""
    first: int
    file: str
    name: str
    table: bytes
    frames: dict[int, Frame]
    """By the offset of the instruction."""

    def frame(self, offset: int) -> Frame:
        line = line_of(self.table, self.first, offset)
        says: str | Unknown = (
            Unknown("the code object has no line here") if line is None else f"{self.file}:{line}"
        )
        return Frame("python", self.name, self.file, says, False)


class PythonFrames:
    """A reader for one Python in one process; caches code objects while their contents are unchanged."""

    def __init__(self, memory: RemoteMemory, runtime: int, found: Layout) -> None:
        self._memory, self._runtime, self._layout = memory, runtime, found
        self._values = Values(memory, found)
        self._codes: dict[int, _Code] = {}
        self._now: dict[int, _Code] = {}  # those that were checked in this walk
        self._states: dict[int, int] = {}

    def segments(self, thread: int) -> list[list[Frame]]:
        """The thread's Python frames, innermost first: one list for each entry from C into the interpreter.

        `thread`: as gettid(2). Empty for a thread that Python does not know.
        """
        state = self._state(thread)
        self._now.clear()
        found: list[list[Frame]] = [[]]
        for frame in self._walk(state) if state else ():
            if frame is None:
                found.append([])
            else:
                found[-1].append(frame)
        return [segment for segment in found if segment]

    def _walk(self, state: int) -> Iterator[Frame | None]:
        """Frames, innermost first; None after the last frame of an entry."""
        where, word = self._layout, self._memory.word
        at = where.newest_frame(word, state)
        for _ in range(DEPTH_MAX):
            if not at:
                return
            raw = self._memory.read(at, _FRAME_BYTES)
            if raw[where.owner] >= where.shim_owner:
                yield None
            else:
                yield self._frame(raw)
                if where.is_entry >= 0 and raw[where.is_entry]:
                    yield None
            at = struct.unpack_from("<Q", raw, where.previous)[0]

    def _frame(self, raw: bytes) -> Frame:
        where = self._layout
        at = struct.unpack_from("<Q", raw, where.code)[0] & UNTAGGED
        offset = struct.unpack_from("<Q", raw, where.instruction)[0] - at - where.bytecode
        offset = max(offset - (0 if where.instruction_before else 2), 0)
        code = self._code(at)
        if offset not in code.frames:
            code.frames[offset] = code.frame(offset)
        return code.frames[offset]

    def _code(self, at: int) -> _Code:
        """The code object at `at`; verified, because another may have its address now."""
        if at not in self._now:
            where, memory = self._layout, self._memory
            fields = (where.line_table, where.file_name, where.qualified_name)
            head = memory.read(at, max(*fields, where.first_line) + 8)
            objects = tuple(struct.unpack_from("<Q", head, field)[0] for field in fields)
            first = struct.unpack_from("<i", head, where.first_line)[0]
            known = self._codes.get(at)
            if known is None or known.first != first or not self._still(known, objects):
                known = self._codes[at] = self._read_code(objects, first)
            self._now[at] = known
        return self._now[at]

    def _still(self, known: _Code, objects: tuple[int, ...]) -> bool:
        """Whether the code object's referents have the same addresses and contents."""
        return all(
            at == was and self._memory.read(at + _SIZE, len(content)) == content
            for at, (was, content) in zip(objects, known.objects, strict=True)
        )

    def _read_code(self, objects: tuple[int, ...], first: int) -> _Code:
        memory, (table, file, name) = self._memory, objects
        size = min(memory.word(table + _SIZE), _TABLE_BYTES_MAX)
        texts = self._values.text(file, 300), self._values.text(name, 200)
        lengths = [size, *(min(memory.word(text + _SIZE), 300) for text in (file, name))]
        contents = [
            (at, memory.read(at + _SIZE, _HEAD + length)) for at, length in zip(objects, lengths, strict=True)
        ]
        return _Code(tuple(contents), first, *texts, memory.read(table + 32, size), {})

    def _state(self, thread: int) -> int:
        """The thread state of a thread (0: none); cached while it still has the thread's id."""
        where, word = self._layout, self._memory.word
        known = self._states.get(thread, 0)
        try:
            if known and word(known + where.native_thread_id) == thread:
                return known
        except Unreadable:
            pass
        self._states = dict(self._all_states())
        return self._states.get(thread, 0)

    def _all_states(self) -> Iterator[tuple[int, int]]:
        where, word = self._layout, self._memory.word
        interpreter, left = word(self._runtime + where.interpreters), _THREADS_MAX
        while interpreter and left:
            state = word(interpreter + where.threads)
            while state and left:
                yield word(state + where.native_thread_id), state
                state, left = word(state + where.next_thread), left - 1
            interpreter = word(interpreter + where.next_interpreter)


def python_frames(memory: RemoteMemory, runtime: int, version: int) -> PythonFrames | Unknown:
    """A reader for the Python whose `_PyRuntime` is at `runtime`; Unknown with the reason."""
    found = layout(memory, runtime, version)
    return found if isinstance(found, Unknown) else PythonFrames(memory, runtime, found)
