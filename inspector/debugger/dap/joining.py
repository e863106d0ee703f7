"""An attached program is gdb's from the first moment, and debugpy joins later: it needs the program to run.

debugpy attaches by a gdb of its own, which calls functions in the program, then waits for the GIL. So a
thread that blocks in C is paused and shown before that. What the editor asks of Python meanwhile is kept, or
refused.
"""

# SPDX-License-Identifier: MIT
import itertools
import time
from functools import partial
from typing import Any, Final

from inspector.debugger import preflight
from inspector.debugger.dap.places import FIRST
from inspector.debugger.dap.python_objects import opened
from inspector.debugger.dap.relay import TICK_S, Then
from inspector.debugger.dap.wire import Message, Stream
from inspector.debugger.dap.with_gdb import ENDS_S, WithGdb
from inspector.debugger.memory import proc
from inspector.errors import InspectorError

POLL_S: Final = 0.05
_QUIET_S: Final = 0.3
"""An editor that wants a pause at once has asked for it within so many seconds of the beginning."""
_RUNS_S: Final = 1.0
"""debugpy joins after the program has run for so long, when it stood in gdb before."""
_PAUSES_S: Final = 5.0
_SETS: Final = ("setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints")
NOT_YET: Final = "Python's debugger joins when the program has run for a second: let it go on"
_JOINS: Final = "Python's debugger has not joined yet"


class Joining(WithGdb):
    """`is_late`: gdb has the program, and debugpy has not."""

    def __init__(self, editor: Stream, python: Stream) -> None:
        super().__init__(editor, python)
        self.is_late = self._joins = False
        self._attach_request: Message = {}
        self._kept: dict[tuple[str, str], tuple[Message, list[int]]] = {}
        self._join_at = 0.0
        self.own_numbers = itertools.count(2 * FIRST)
        self._shown_threads: set[int] = set()

    def begin_late(self, request: Message) -> bool:
        """Attach without debugpy for now; False where gdb may not attach, and debugpy says why."""
        try:
            preflight.check(self.native.pid)
        except InspectorError:
            return False
        self.is_late, self._attach_request, self.tick_s = True, request, POLL_S
        self.native.prepare()
        self.event("initialized")
        return True

    def configured_late(self, request: Message) -> None:
        """The editor has set all that it wants from the beginning."""
        self.answer(request)
        self.answer(self._attach_request)
        kept = [given for given, _ in self._kept.values()]
        waited = any(given.get("breakpoints") or given.get("filters") for given in kept)
        self.join_after(0.0 if waited else _QUIET_S)

    def join_after(self, seconds: float = _PAUSES_S) -> None:
        """Let debugpy join then, and not before."""
        self._join_at = time.monotonic() + seconds

    def after(self) -> None:
        """Let debugpy join once the program runs; end the session of a program that has ended."""
        super().after()
        if not self.is_late:
            return
        if not proc.alive(self.native.pid):
            self.event("terminated")
            raise EOFError
        if self.standing:
            self.join_after(_RUNS_S)
        elif self._join_at and time.monotonic() > self._join_at and not self._joins:
            self._join()

    def _join(self) -> None:
        self._join_at = 0.0
        if isinstance(why := opened(self.native.pid), str):
            self._without_python(why)
            return
        why.close()
        self._joins = True
        self.leave()
        self._pass_on("attach", self._refused_join, self._attach_request.get("arguments") or {})

    def _refused_join(self, told: Message) -> None:
        self._joins = False
        if not told["success"]:
            self._without_python(str(told.get("message")))

    def _without_python(self, why: str) -> None:
        self.say(f"Python is not debugged: {why}")
        self.with_gdb(self.place, lambda error: None)

    def heard_initialized(self, event: Message) -> bool:
        """debugpy is in the program: it gets what was kept."""
        if not self.is_late:
            return True
        for (command, _), (given, numbers) in self._kept.items():
            self._pass_on(command, partial(self.tell_set, numbers), given)
        self._pass_on("configurationDone", self._joined, {})
        return False

    def tell_set(self, numbers: list[int], told: Message) -> None:
        """Say what became of breakpoints that were answered before debugpy had them."""
        rows = (told.get("body") or {}).get("breakpoints") or ()
        for number, row in zip(numbers, rows, strict=False):
            self.event("breakpoint", reason="changed", breakpoint={**row, "id": number})

    def _joined(self, told: Message) -> None:
        self.is_late = self._joins = False
        self.tick_s = TICK_S
        for thread in self._shown_threads - set(self.standing):
            self.event("thread", reason="exited", threadId=thread)
        self.joined()

    def joined(self) -> None:
        """debugpy has joined."""

    def place(self) -> None:
        """Set the native breakpoints."""

    def _attach_now(self) -> None:
        """Wait where debugpy's own gdb has the program: it leaves soon."""
        if self._joins and proc.tracer(self.native.pid):
            self._due_at = time.monotonic() + POLL_S
        else:
            super()._attach_now()

    def _pass_on(self, command: str, then: Then, given: Message) -> None:
        super().ask(command, then, **given)

    def ask(self, command: str, then: Then, **arguments: Any) -> None:
        """A request of our own, which fails while debugpy has not joined."""
        if not self.is_late:
            super().ask(command, then, **arguments)
            return
        if command in _SETS:
            self._kept[command, ""] = (arguments, [])
        then({"success": False, "message": _JOINS})

    def ask_for(self, request: Message, command: str, then: Then, **arguments: Any) -> None:
        """What the editor's request needs of debugpy, which has not joined."""
        if self.is_late:
            then({"success": False, "message": _JOINS})
        else:
            super().ask_for(request, command, then, **arguments)

    def forward(self, request: Message, then: Then | None = None) -> None:
        """Keep what is set, refuse what debugpy alone can answer."""
        command, given = request["command"], dict(request.get("arguments") or {})
        if not self.is_late or command in ("disconnect", "terminate"):
            self._ends_at = time.monotonic() + ENDS_S if self.is_late else self._ends_at
            super().forward(request, then)
        elif command in _SETS:
            wanted = given.get("breakpoints") or ()
            numbers = [next(self.own_numbers) for _ in wanted]
            self._kept[command, str(given.get("source"))] = (given, numbers)
            rows = [{"id": number, "verified": False, "message": _JOINS} for number in numbers]
            self.answer(request, breakpoints=rows)
        else:
            self.refuse(request, NOT_YET)

    def late_threads(self, request: Message, rows: list[Message]) -> None:
        """The kernel's threads, by the names that Python gave them."""
        self._shown_threads.update(row["id"] for row in rows)
        self.answer(request, threads=rows)
