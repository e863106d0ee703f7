"""The stack of a thread of this process at a hardware breakpoint or watchpoint."""

# SPDX-License-Identifier: MIT
import ctypes
import os
import platform
import threading
from functools import cache
from pathlib import PurePath
from typing import Final

from inspector.binaries.addresses import place
from inspector.debugger.memory import proc
from inspector.debugger.memory.loop_parts import LOOP, LoopParts
from inspector.debugger.memory.merge import marked, merged
from inspector.debugger.memory.remote_memory import RemoteMemory
from inspector.facts.stack import Frame, Stack
from inspector.facts.unknown import Unknown

DEPTH: Final = 40
"""Native frames of a record (native/watch/writes.h)."""
_NO_LINE: Final = Unknown("debug information is not read")


def stack_of(
    thread: int, native: list[int], python: list[tuple[str, str, int, int]], depth: int = DEPTH
) -> Stack:
    """The stack of a record of `_native.writes_disarm` or `hardware_breakpoints_disarm`."""
    frames = merged(map(_native_frame, native[:depth]), _segments(python))
    own = os.getpid()
    name = threading.main_thread().name if thread == own else proc.thread_name(own, thread)
    return Stack(thread, name, frames, platform.python_version(), len(native) >= depth)


def _native_frame(address: int) -> Frame:
    where = place(address - 1)  # a return address follows its call
    library = where.library if isinstance(where.library, Unknown) else PurePath(where.library).name
    unnamed = LOOP if _loop().has(address) else f"{address:#x}"
    name = unnamed if isinstance(where.symbol, Unknown) else where.symbol
    return marked(Frame("native", name, library, _NO_LINE, False))


@cache
def _loop() -> LoopParts:
    address = ctypes.cast(getattr(ctypes.pythonapi, LOOP), ctypes.c_void_p).value
    return LoopParts(RemoteMemory(os.getpid()), address or 0)


def _segments(rows: list[tuple[str, str, int, int]]) -> list[list[Frame]]:
    """Python frames by entry from C, innermost first."""
    found: list[list[Frame]] = [[]]
    for name, file, line, from_c in rows:
        found[-1].append(Frame("python", name, file, f"{file}:{line}", False))
        if from_c:
            found.append([])
    return [segment for segment in found if segment]
