"""The Python frames of a thread of another process, read from its memory; nothing is called there."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from inspector.debugger.location_table import line_of
from inspector.debugger.python_layout import Layout, layout
from inspector.debugger.python_values import Values
from inspector.debugger.remote_memory import RemoteMemory, Unreadable
from inspector.facts.stack import Frame
from inspector.facts.unknown import Unknown

DEPTH_MAX: Final = 400
_FRAME_BYTES: Final = 96
_TABLE_BYTES_MAX: Final = 1 << 16
_THREADS_MAX: Final = 4096


class PythonFrames:
    """A reader for one Python in one process; code objects are read once."""

    def __init__(self, memory: RemoteMemory, runtime: int, found: Layout) -> None:
        self._memory, self._runtime, self._layout = memory, runtime, found
        self._values = Values(memory, found)
        self._codes: dict[int, tuple[str, str, int, bytes]] = {}
        self._lines: dict[tuple[int, int], int | None] = {}
        self._states: dict[int, int] = {}

    def segments(self, thread: int) -> list[list[Frame]]:
        """The thread's Python frames, innermost first: one list for each entry from C into the interpreter.

        `thread`: as gettid(2). Empty for a thread that Python does not know.
        """
        state = self._state(thread)
        found: list[list[Frame]] = [[]]
        for frame in self._walk(state) if state else ():
            if frame is None:
                found.append([])
            else:
                found[-1].append(frame)
        return [segment for segment in found if segment]

    def _walk(self, state: int) -> Iterator[Frame | None]:
        """Frames from the innermost out; None behind the last one of an entry."""
        where, word = self._layout, self._memory.word
        at = word(state + where.current_frame)
        if where.frame_of_c_frame >= 0:
            at = word(at + where.frame_of_c_frame)
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
        code = struct.unpack_from("<Q", raw, self._layout.code)[0]
        instruction = struct.unpack_from("<Q", raw, self._layout.instruction)[0]
        if code not in self._codes:
            self._codes[code] = self._code(code)
        file, name, first, table = self._codes[code]
        offset = instruction - code - self._layout.bytecode - (0 if self._layout.instruction_before else 2)
        key = (code, offset)
        if key not in self._lines:
            self._lines[key] = line_of(table, first, max(offset, 0))
        line = self._lines[key]
        says: str | Unknown = (
            Unknown("the code object has no line here") if line is None else f"{file}:{line}"
        )
        return Frame("python", name, file, says, False)

    def _code(self, code: int) -> tuple[str, str, int, bytes]:
        where, memory = self._layout, self._memory
        table = memory.word(code + where.line_table)
        size = min(memory.word(table + 16), _TABLE_BYTES_MAX)
        first = struct.unpack("<i", memory.read(code + where.first_line, 4))[0]
        file = self._values.text(memory.word(code + where.file_name), 300)
        name = self._values.text(memory.word(code + where.qualified_name), 200)
        return file, name, first, memory.read(table + 32, size)

    def _state(self, thread: int) -> int:
        """The thread state of a thread: kept from the last time while it still names the thread."""
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
    """A reader for the Python whose `_PyRuntime` is at `runtime`, or why there is none."""
    found = layout(memory, runtime, version)
    return found if isinstance(found, Unknown) else PythonFrames(memory, runtime, found)
