"""CPython's offsets that a walk of frames needs: by tables to 3.12, read from the process since 3.13.

3.13 describes itself (`_Py_DebugOffsets` at the start of `_PyRuntime`, internal/pycore_runtime.h). For 3.11
and 3.12 the offsets are those of their headers (internal/pycore_frame.h, pycore_interp.h,
cpython/pystate.h, cpython/code.h), which did not change within a version. Offsets are in bytes.
"""

# SPDX-License-Identifier: MIT
import struct
from typing import Final, NamedTuple

from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.facts.unknown import Unknown


class Layout(NamedTuple):
    """Offsets of one CPython."""

    version: tuple[int, int]
    interpreters: int
    """In _PyRuntime: the first interpreter."""
    next_interpreter: int
    threads: int
    """In an interpreter: its first thread state."""
    next_thread: int
    native_thread_id: int
    current_frame: int
    """In a thread state: the frame; up to 3.12 the C frame, in which `frame_of_c_frame` points to it."""
    frame_of_c_frame: int
    """-1 where the thread state points to the frame itself."""
    code: int
    """In a frame."""
    previous: int
    instruction: int
    owner: int
    is_entry: int
    """In a frame of 3.11: the byte that marks a call from C; -1 later, which use a shim frame."""
    file_name: int
    """In a code object."""
    qualified_name: int
    first_line: int
    line_table: int
    bytecode: int
    ascii_text: int
    """In a compact ASCII str: the first character."""
    compact_text: int
    instruction_before: bool
    """The frame has the last instruction (3.11, 3.12), not the next one."""

    @property
    def shim_owner(self) -> int:
        """The owner byte of a shim frame, which only marks an entry from C."""
        return 3


_TABLES: Final = {
    (3, 11): Layout(
        (3, 11), 40, 0, 16, 8, 160, 56, 8, 32, 48, 56, 69, 68, 112, 128, 72, 136, 184, 48, 72, True
    ),
    (3, 12): Layout(
        (3, 12), 40, 0, 72, 8, 144, 56, 0, 0, 8, 56, 70, -1, 112, 128, 68, 136, 192, 40, 56, True
    ),
}
_COOKIE: Final = b"xdebugpy"
_WORDS: Final = 44


def layout(memory: RemoteMemory, runtime: int, version: int) -> Layout | Unknown:
    """Offsets for the Python whose `_PyRuntime` is at `runtime`; `version` as `Py_Version` (0x030B07F0)."""
    name = (version >> 24, version >> 16 & 0xFF)
    if name in _TABLES:
        return _TABLES[name]
    if name == (3, 13):
        try:
            head = memory.read(runtime, _WORDS * 8)
        except Unreadable as error:
            return Unknown(f"_PyRuntime cannot be read at {error}")
        if head.startswith(_COOKIE):
            return _self_described(name, struct.unpack(f"<{_WORDS}Q", head))
    return Unknown(f"no layout is known for Python {name[0]}.{name[1]}: native frames only")


def _self_described(name: tuple[int, int], words: tuple[int, ...]) -> Layout | Unknown:
    if words[2]:
        return Unknown("a free-threaded Python: native frames only")
    return Layout(
        version=name,
        interpreters=words[5],
        next_interpreter=words[8],
        threads=words[9],
        next_thread=words[21],
        native_thread_id=words[25],
        current_frame=words[23],
        frame_of_c_frame=-1,
        previous=words[29],
        code=words[30],
        instruction=words[31],
        owner=words[33],
        is_entry=-1,
        file_name=words[35],
        qualified_name=words[37],
        line_table=words[38],
        first_line=words[39],
        bytecode=words[43],
        ascii_text=40,
        compact_text=56,
        instruction_before=False,
    )
