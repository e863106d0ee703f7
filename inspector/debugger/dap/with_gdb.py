"""One editor, debugpy, and gdb once it is needed: events of gdb's are heard by methods `gdb_EVENT(event)`."""

# SPDX-License-Identifier: MIT
import selectors
import time
from collections.abc import Callable
from signal import Signals
from typing import Final

from inspector.debugger.dap.native_side import GUARD_S, NativeSide, guard
from inspector.debugger.dap.relay import TICK_S, Relay
from inspector.debugger.dap.shown import Shown
from inspector.debugger.dap.wire import Message, Stream
from inspector.errors import InspectorError

CRASHES_LABEL: Final = "Crashes (SIGSEGV, SIGABRT, SIGBUS, SIGFPE)"
_CRASHED: Final = {-Signals[name]: name for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE")}
"""By the exit code that debugpy's launcher tells, of which it keeps eight bits."""
_SHOWN_S: Final = 0.2
"""An editor that is told of a stop asks for stacks and variables for so many seconds."""
ENDS_S: Final = 3.0
"""debugpy cannot answer while C code has the GIL: after so many seconds the session ends without it."""


class WithGdb(Relay):
    """`standing`: thread of the editor -> the kernel's id, and whether a frame of Python's is on top."""

    def __init__(self, editor: Stream, python: Stream) -> None:
        super().__init__(editor, python)
        self.native = NativeSide()
        self.shown = Shown(self.native)
        self.standing: dict[int, tuple[int, bool]] = {}
        self._due: list[tuple[Callable[[], None], Callable[[InspectorError], None]]] = []
        self._due_at = self._ends_at = self._ahead_at = 0.0
        self.outlives = self._was_attached = False
        """The program was attached to, and runs on when the editor leaves."""

    def after(self) -> None:
        """Hear what gdb has told; attach it where the program did not answer."""
        if self._due and time.monotonic() > self._due_at:
            self._attach_now()
        if self._ahead_at and time.monotonic() > self._ahead_at:
            self._ahead_at, self.tick_s = 0.0, TICK_S
            self.native.prepare()
        if self._ends_at and time.monotonic() > self._ends_at:
            self.answer_waiting(("disconnect", "terminate"))
            raise EOFError
        while self.native.client is not None and self.native.client.events:
            event = self.native.client.events.pop(0)
            getattr(self, f"gdb_{event['event']}")(event)

    def soon(self) -> None:
        """Python has stopped, and the next step may lead into C: get gdb ready when all has been shown."""
        if self.native.client is None and self.tick_s == TICK_S:
            self._ahead_at, self.tick_s = time.monotonic() + _SHOWN_S, _SHOWN_S

    def with_gdb(self, then: Callable[[], None], refused: Callable[[InspectorError], None]) -> None:
        """Call `then` when gdb is attached, or `refused`. Before that the program arms its guard."""
        if self.native.client is not None or self.native.refused or not self.native.pid:
            self._due = [*self._due, (then, refused)]
            self._attach_now()
            return
        self._due.append((then, refused))
        if len(self._due) == 1:
            self._due_at = time.monotonic() + GUARD_S
            self.ask("evaluate", lambda told: self._attach_now(), expression=guard(True), context="repl")

    def _attach_now(self) -> None:
        due, self._due = self._due, []
        for then, refused in due:
            try:
                self._attach()
                then()
            except InspectorError as error:
                refused(error)

    def _attach(self) -> None:
        if self.native.client is not None:
            return
        known = self.native.refused
        try:
            client = self.native.attach()
        except InspectorError as error:
            if self.native.refused and not known:
                self.say(f"Native code is not debugged: {error}")
            raise
        self._was_attached = True
        self.selector.register(client.lines, selectors.EVENT_READ, self._hear_gdb)

    def _hear_gdb(self) -> None:
        try:
            self.native.read()
        except (EOFError, OSError):
            self._lost("the broker has ended")

    def gdb_output(self, event: Message) -> None:
        """A log message of a breakpoint."""
        self.say(event["text"])

    def gdb_ended(self, event: Message) -> None:
        """gdb has ended by itself; the broker has put the program in order."""
        self._lost(event.get("ended") or "gdb has ended")

    def gdb_exited(self, event: Message) -> None:
        """The program has ended."""
        self.leave()

    def _lost(self, why: str) -> None:
        """gdb is gone and the program runs on: Python's debugging does too."""
        standing = list(self.standing)
        self.leave()
        self.native.refused = f"gdb is gone: {why}"
        self.say(f"Native debugging has ended: {why}")
        for thread in standing:
            self.event("continued", threadId=thread, allThreadsContinued=False)

    def leave(self) -> None:
        """Remove all native breakpoints and detach gdb."""
        if self.native.client is not None:
            self.selector.unregister(self.native.client.lines)
        self.native.leave()
        self.shown.close()
        self.standing.clear()

    def do_disconnect(self, request: Message) -> None:
        """gdb leaves first: debugpy answers only while the program runs."""
        if self.native.client is not None:
            self.leave()
            if self.outlives:
                self.ask("evaluate", lambda told: None, expression=guard(False), context="repl")
            self._ends_at = time.monotonic() + ENDS_S
        self.forward(request)

    do_terminate = do_disconnect

    def heard_exited(self, event: Message) -> None:
        """Say of a crash that gdb was not there to see how it can be."""
        code = int(event["body"].get("exitCode") or 0)
        if (name := _CRASHED.get(code - 256)) and not self._was_attached and not self.native.refused:
            self.say(
                f"The program ended with {code}, as after {name}. To stop there, choose {CRASHES_LABEL}."
            )

    def heard_terminated(self, event: Message) -> None:
        """debugpy says that the program has ended."""
        self.leave()

    def close(self) -> None:
        """Leave the program: no tracer, no breakpoint."""
        self.leave()
