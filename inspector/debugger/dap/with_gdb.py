"""One editor, debugpy, and gdb once it is needed: events of gdb's are heard by methods `gdb_EVENT(event)`."""

# SPDX-License-Identifier: MIT
import selectors

from inspector.debugger.dap.native_side import NativeSide
from inspector.debugger.dap.relay import Relay
from inspector.debugger.dap.shown import Shown
from inspector.debugger.dap.wire import Message, Messages
from inspector.errors import InspectorError


class WithGdb(Relay):
    """`standing`: thread of the editor -> the kernel's id, and whether a frame of Python's is on top."""

    def __init__(self, editor: Messages, python: Messages) -> None:
        super().__init__(editor, python)
        self.native = NativeSide()
        self.shown = Shown(self.native)
        self.standing: dict[int, tuple[int, bool]] = {}

    def after(self) -> None:
        """Hear what gdb has told."""
        while self.native.client is not None and self.native.client.events:
            event = self.native.client.events.pop(0)
            getattr(self, f"gdb_{event['event']}")(event)

    def attach(self) -> None:
        """gdb on the program, once. Raises InspectorError, and tells the editor why the first time."""
        if self.native.client is not None:
            return
        known = self.native.refused
        try:
            client = self.native.attach()
        except InspectorError as error:
            if self.native.refused and not known:
                self.say(f"Native code is not debugged: {error}")
            raise
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
        self.leave()
        self.forward(request)

    do_terminate = do_disconnect

    def heard_terminated(self, event: Message) -> None:
        """debugpy says that the program has ended."""
        self.leave()

    def close(self) -> None:
        """Leave the program: no tracer, no breakpoint."""
        self.leave()
