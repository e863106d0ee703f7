"""CPython's offsets that a walk of frames needs: by tables to 3.12, read from the process since 3.13.

3.13 and later describe themselves: `_Py_DebugOffsets` at the start of `_PyRuntime`, whose fields are in
debug_offsets.py. For 3.11 and 3.12 the offsets are those of their headers (internal/pycore_frame.h,
pycore_interp.h, cpython/pystate.h, cpython/code.h), which did not change within a version. All are in bytes.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Final, NamedTuple

from inspector.debugger.memory.debug_offsets import debug_offsets
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
        """The least owner byte of a shim frame, which only marks an entry from C (enum _frameowner)."""
        return 3

    def newest_frame(self, word: Callable[[int], int], state: int) -> int:
        """The address of a thread state's innermost frame, 0 for none; `word` reads a word of the process."""
        at = word(state + self.current_frame)
        return word(at + self.frame_of_c_frame) if self.frame_of_c_frame >= 0 else at


UNTAGGED: Final = ~3
"""A reference in a frame without its tag: from 3.14 on the low bits say whether the frame owns it
(internal/pycore_stackref.h)."""
_TABLES: Final = {
    (3, 11): Layout(
        (3, 11), 40, 0, 16, 8, 160, 56, 8, 32, 48, 56, 69, 68, 112, 128, 72, 136, 184, 48, 72, True
    ),
    (3, 12): Layout(
        (3, 12), 40, 0, 72, 8, 144, 56, 0, 0, 8, 56, 70, -1, 112, 128, 68, 136, 192, 40, 56, True
    ),
}


def layout(memory: RemoteMemory, runtime: int, version: int) -> Layout | Unknown:
    """Offsets for the Python whose `_PyRuntime` is at `runtime`; `version` as `Py_Version` (0x030B07F0)."""
    name = (version >> 24, version >> 16 & 0xFF)
    if name in _TABLES:
        return _TABLES[name]
    try:
        words = debug_offsets(memory, runtime, name)
    except Unreadable as error:
        return Unknown(f"_PyRuntime cannot be read at {error}")
    if not words:
        return Unknown(f"no layout is known for Python {name[0]}.{name[1]}: native frames only")
    if words["free_threaded"]:
        return Unknown("a free-threaded Python: native frames only")
    return _self_described(name, words)


def _self_described(name: tuple[int, int], words: dict[str, int]) -> Layout:
    return Layout(
        version=name,
        interpreters=words["runtime_state.interpreters_head"],
        next_interpreter=words["interpreter_state.next"],
        threads=words["interpreter_state.threads_head"],
        next_thread=words["thread_state.next"],
        native_thread_id=words["thread_state.native_thread_id"],
        current_frame=words["thread_state.current_frame"],
        frame_of_c_frame=-1,
        previous=words["interpreter_frame.previous"],
        code=words["interpreter_frame.executable"],
        instruction=words["interpreter_frame.instr_ptr"],
        owner=words["interpreter_frame.owner"],
        is_entry=-1,
        file_name=words["code_object.filename"],
        qualified_name=words["code_object.qualname"],
        line_table=words["code_object.linetable"],
        first_line=words["code_object.firstlineno"],
        bytecode=words["code_object.co_code_adaptive"],
        ascii_text=40,
        compact_text=56,
        instruction_before=False,
    )
