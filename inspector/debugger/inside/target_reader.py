"""Inside gdb: the merged stack at a stop: native frames by gdb, Python frames read from memory."""

# SPDX-License-Identifier: MIT
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import gdb

from inspector.debugger.inside.native_values import NativeValues
from inspector.debugger.memory.loop_parts import LOOP, LoopParts
from inspector.debugger.memory.merge import marked, merged
from inspector.debugger.memory.python_frames import PythonFrames, python_frames
from inspector.debugger.memory.python_layout import layout
from inspector.debugger.memory.python_values import Values
from inspector.debugger.memory.r_frames import contexts, placed
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.debugger.memory.unwound import Registers, Unwound
from inspector.facts.stack import Frame, Stack
from inspector.facts.unknown import Unknown

_NO_SYMBOL: Final = Unknown("no symbol names this place")
_NO_LINE: Final = Unknown("no debug information")


class Native(NamedTuple):
    """The native frames of one stack."""

    frames: list[Frame]
    tops: list[int]
    """The stack pointers of the frames, and of the next one where the stack was cut; [] where not read."""
    cut: bool
    depth: int
    """The requested number of frames."""


class TargetReader:
    """One process. Its Python is searched at the first stack, and again until it is found."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.memory = RemoteMemory(pid)
        self._python: PythonFrames | Unknown = Unknown("no Python in this process")
        self._values: Values | None = None
        self._version: str | Unknown = self._python
        self._cache: dict[int, Frame] = {}
        self._unwound = Unwound(self.memory)
        self._loop: LoopParts | None = None
        self._r_context: int | None = None
        self.objfiles = -1

    def forget(self) -> None:
        """The process has loaded or unloaded code: drop cached names, which may be wrong."""
        self._cache.clear()
        self._unwound.forget()
        self._r_context = None
        if isinstance(self._python, Unknown):
            self.objfiles = -1

    def restart(self) -> None:
        """The process runs another program now (execve(2))."""
        self.memory.close()
        self.__init__(self.pid)  # type: ignore[misc]

    def native_values(self) -> NativeValues:
        """A reader of arguments and locals."""
        self._find_python()
        return NativeValues(self.memory, self._values)

    def stack(self, thread: int, depth: int, mode: str = "full") -> Stack:
        """The selected thread's frames; mode "full", "native" or "python"."""
        self._find_python()
        found = Native([], [], False, depth) if mode == "python" else self._native(depth)
        native = found.frames
        if mode in ("full", "stacks") and (context := self._r()):
            native = self._with_r(found, context)
        segments: list[list[Frame]] = []
        says = self._version
        if mode != "native" and not isinstance(self._python, Unknown):
            try:
                segments = self._python.segments(thread)
            except Unreadable as error:
                says = Unknown(f"Python's frames cannot be read at {error}")
        name = gdb.selected_thread().name or ""
        return Stack(thread, name, merged(native, segments), says, found.cut)

    def _native(self, depth: int) -> Native:
        """The selected thread's native frames; cached for a stack that was unwound before."""
        innermost = _registers(gdb.newest_frame())
        found: Native | None = self._unwound.find(innermost) if innermost else None
        if found is not None and found.depth == depth:
            return found
        frames = list(frames_of(depth + 1))
        read = [self.frame(frame) for frame in frames[:depth]]
        steps = [_registers(frame) for frame in frames] if self._unwound.learns or self._r() else []
        found = Native(read, [step.sp for step in steps if step], len(frames) > depth, depth)
        if self._unwound.learns and all(steps):
            own = [step for step, frame in zip(steps, frames, strict=True) if step and _has_stack(frame)]
            self._unwound.keep(own, found)
        return found

    def _r(self) -> int:
        """The address of R_GlobalContext; 0 without R. Cached: gdb takes 30 ms to miss a name."""
        if self._r_context is None:
            files = {os.path.basename(one.filename or "") for one in gdb.objfiles()}  # noqa: PTH119
            has_r = any(name == "R" or name.startswith("libR.") for name in files)
            self._r_context = symbol("R_GlobalContext") if has_r else 0
        return self._r_context

    def _with_r(self, native: Native, context: int) -> list[Frame]:
        """The native frames with R's functions between them."""
        try:
            running = contexts(self.memory, self.memory.word(context))
        except Unreadable:
            return native.frames
        on_this_stack = [one for one in running if native.tops and one.address >= native.tops[0]]
        return placed(native.frames, native.tops, on_this_stack)

    def frame(self, frame: gdb.Frame) -> Frame:
        """One native frame as a fact."""
        inline = frame.type() == gdb.INLINE_FRAME
        pc = frame.pc()
        if not inline and pc in self._cache:
            return self._cache[pc]
        file, sal = gdb.solib_name(pc) or _program(), frame.find_sal()
        line = f"{sal.symtab.fullname()}:{sal.line}" if sal.symtab else _NO_LINE
        name = frame.name() or (LOOP if self._is_loop(pc) else f"{pc:#x}")
        library = os.path.basename(file) if file else _NO_SYMBOL  # noqa: PTH119
        found = marked(Frame("native", name, library, line, False))
        if not inline:
            self._cache[pc] = found
        return found

    def _is_loop(self, pc: int) -> bool:
        """Whether unnamed code is a part of Python's evaluation loop."""
        if isinstance(self._python, Unknown):
            return False
        self._loop = self._loop or LoopParts(self.memory, symbol(LOOP))
        return self._loop.has(pc)

    def _find_python(self) -> None:
        if not isinstance(self._python, Unknown) or self.objfiles == (now := len(gdb.objfiles())):
            return
        self.objfiles = now
        runtime, version = symbol("_PyRuntime"), symbol("Py_Version")
        if not runtime or not version:
            return
        try:
            number = self.memory.word(version)
            where = layout(self.memory, runtime, number)
            self._python = python_frames(self.memory, runtime, number)
        except Unreadable as error:
            where = self._python = Unknown(f"Python cannot be read at {error}")
        if isinstance(where, Unknown):
            self._version = where
            return
        self._values = Values(self.memory, where)
        self._version = f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}"


def frames_of(most: int) -> Iterator[gdb.Frame]:
    """The selected thread's frames, innermost first."""
    frame: gdb.Frame | None = gdb.newest_frame()
    for _ in range(most):
        if frame is None:
            return
        yield frame
        try:
            frame = frame.older()
        except gdb.error:  # gdb cannot unwind further: keep the frames so far
            return


def _registers(frame: gdb.Frame) -> Registers | None:
    """The frame's registers; None where gdb does not know them, or not on x86-64."""
    try:
        sp, bp = (int(frame.read_register(name)) & (1 << 64) - 1 for name in ("rsp", "rbp"))
    except (gdb.error, ValueError):
        return None
    return Registers(frame.pc(), sp, bp)


def _has_stack(frame: gdb.Frame) -> bool:
    """Whether a frame has its own part of the stack; an inlined one has not."""
    return frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME)


def symbol(name: str) -> int:
    """The address of a static symbol, with or without debug information; 0 where there is none."""
    try:
        return int(gdb.parse_and_eval(f"(unsigned long)&{name}"))
    except gdb.error:
        return 0


def _program() -> str:
    space = gdb.current_progspace()
    return Path(space.filename).name if space and space.filename else ""
