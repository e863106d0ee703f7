"""Inside gdb: stacks of the process at a stop: native frames by gdb, Python frames from memory, merged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import gdb

from inspector.debugger.merge import merged
from inspector.debugger.native_values import NativeValues
from inspector.debugger.python_frames import PythonFrames, python_frames
from inspector.debugger.python_layout import layout
from inspector.debugger.python_values import Values
from inspector.debugger.r_frames import contexts, placed
from inspector.debugger.remote_memory import RemoteMemory, Unreadable
from inspector.facts.stack import Frame, Stack
from inspector.facts.unknown import Unknown

_NO_SYMBOL: Final = Unknown("no symbol names this place")
_NO_LINE: Final = Unknown("no debug information")


class TargetReader:
    """One process. Its Python is looked for when a stack is first asked for, and again until it is there."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.memory = RemoteMemory(pid)
        self._python: PythonFrames | Unknown = Unknown("no Python in this process")
        self._values: Values | None = None
        self._version: str | Unknown = self._python
        self._cache: dict[int, Frame] = {}
        self._r_context: int | None = None
        self.objfiles = -1

    def forget(self) -> None:
        """The process has loaded or dropped code: names read before may not hold."""
        self._cache.clear()
        self._r_context = None
        if isinstance(self._python, Unknown):
            self.objfiles = -1

    def restart(self) -> None:
        """The process runs another program now (execve(2))."""
        self.memory.close()
        self.__init__(self.pid)  # type: ignore[misc]

    def native_values(self) -> NativeValues:
        """Reads arguments and locals."""
        self._find_python()
        return NativeValues(self.memory, self._values)

    def stack(self, thread: int, depth: int, mode: str = "full") -> Stack:
        """The selected thread's frames; mode "full", "native" or "python"."""
        self._find_python()
        frames = [] if mode == "python" else list(_frames(depth + 1))
        native = [self._frame(frame) for frame in frames[:depth]]
        if mode in ("full", "stacks") and (context := self._r()):
            native = self._with_r(native, frames, context)
        cut = len(frames) > depth
        segments: list[list[Frame]] = []
        says = self._version
        if mode != "native" and not isinstance(self._python, Unknown):
            try:
                segments = self._python.segments(thread)
            except Unreadable as error:
                says = Unknown(f"Python's frames cannot be read at {error}")
        name = gdb.selected_thread().name or ""
        return Stack(thread, name, merged(native, segments), says, cut)

    def _r(self) -> int:
        """Where R keeps its innermost context; 0 without R. A name that is not there is dear to ask for."""
        if self._r_context is None:
            self._r_context = _symbol("R_GlobalContext")
        return self._r_context

    def _with_r(self, native: list[Frame], frames: list[gdb.Frame], context: int) -> list[Frame]:
        """R's functions between the native frames."""
        tops = [int(frame.read_register("rsp")) & (1 << 64) - 1 for frame in frames]
        try:
            running = contexts(self.memory, self.memory.word(context))
        except Unreadable:
            return native
        on_this_stack = [one for one in running if tops and one.address >= tops[0]]
        return placed(native, tops, on_this_stack)

    def _frame(self, frame: gdb.Frame) -> Frame:
        inline = frame.type() == gdb.INLINE_FRAME
        pc = frame.pc()
        if not inline and pc in self._cache:
            return self._cache[pc]
        library, sal = gdb.solib_name(pc), frame.find_sal()
        file = library or _program()
        line = f"{sal.symtab.fullname()}:{sal.line}" if sal.symtab else _NO_LINE
        name = frame.name() or f"{pc:#x}"
        found = Frame("native", name, os.path.basename(file) if file else _NO_SYMBOL, line, False)  # noqa: PTH119
        if not inline:
            self._cache[pc] = found
        return found

    def _find_python(self) -> None:
        if not isinstance(self._python, Unknown) or self.objfiles == (now := len(gdb.objfiles())):
            return
        self.objfiles = now
        runtime, version = _symbol("_PyRuntime"), _symbol("Py_Version")
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


def _frames(most: int) -> Iterator[gdb.Frame]:
    """The selected thread's frames, the innermost first."""
    frame: gdb.Frame | None = gdb.newest_frame()
    for _ in range(most):
        if frame is None:
            return
        yield frame
        try:
            frame = frame.older()
        except gdb.error:  # the unwinder is lost: what is known is known
            return


def _symbol(name: str) -> int:
    """The address of a static symbol, with or without debug information; 0 where there is none."""
    try:
        return int(gdb.parse_and_eval(f"(unsigned long)&{name}"))
    except gdb.error:
        return 0


def _program() -> str:
    space = gdb.current_progspace()
    return Path(space.filename).name if space and space.filename else ""
