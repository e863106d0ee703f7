"""Inside gdb: stacks of the process at a stop: native frames by gdb, Python frames from memory, merged."""

from __future__ import annotations

import os
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
        self.objfiles = -1

    def forget(self) -> None:
        """The process has loaded or dropped code: names read before may not hold."""
        self._cache.clear()
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
        read = [] if mode == "python" else list(self._native(depth + 1))
        cut = len(read) > depth
        native = self._with_r(read, depth) if mode == "full" else [frame for frame, _ in read[:depth]]
        segments: list[list[Frame]] = []
        says = self._version
        if mode != "native" and not isinstance(self._python, Unknown):
            try:
                segments = self._python.segments(thread)
            except Unreadable as error:
                says = Unknown(f"Python's frames cannot be read at {error}")
        name = gdb.selected_thread().name or ""
        return Stack(thread, name, merged(native, segments), says, cut)

    def _with_r(self, read: list[tuple[Frame, int]], depth: int) -> list[Frame]:
        """R's functions between the native frames, where R runs here."""
        native, tops = [frame for frame, _ in read[:depth]], [top for _, top in read]
        where = _symbol("R_GlobalContext")
        if not where:
            return native
        try:
            running = contexts(self.memory, self.memory.word(where))
        except Unreadable:
            return native
        on_this_stack = [one for one in running if tops and one.address >= tops[0]]
        return placed(native, tops, on_this_stack)

    def _native(self, depth: int) -> list[tuple[Frame, int]]:
        """Frames with their stack pointers, the innermost first."""
        found: list[tuple[Frame, int]] = []
        frame: gdb.Frame | None = gdb.newest_frame()
        while frame is not None and len(found) < depth:
            found.append((self._frame(frame), int(frame.read_register("rsp")) & (1 << 64) - 1))
            try:
                frame = frame.older()
            except gdb.error:  # the unwinder is lost: what is known is known
                break
        return found

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


def _symbol(name: str) -> int:
    """The address of a static symbol, with or without debug information; 0 where there is none."""
    try:
        return int(gdb.parse_and_eval(f"(unsigned long)&{name}"))
    except gdb.error:
        return 0


def _program() -> str:
    space = gdb.current_progspace()
    return Path(space.filename).name if space and space.filename else ""
