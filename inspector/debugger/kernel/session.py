"""The debug session of a kernel: an adapter whose Python side is ipykernel's control channel."""

# SPDX-License-Identifier: MIT
import contextlib
import math
import re
import traceback
from typing import Any, Final

from inspector.debugger.dap.native_side import guard
from inspector.debugger.dap.places import in_cell
from inspector.debugger.dap.wire import Message, Stream
from inspector.debugger.kernel.c_cells import BEFORE, CCells
from inspector.debugger.kernel.debug_requests import RENEWED, SAID
from inspector.debugger.kernel.from_cell import FromCell
from inspector.errors import InspectorError

_ROWS: Final = {
    "stackTrace": "stackFrames",
    "scopes": "scopes",
    "variables": "variables",
    "inspectVariables": "variables",
}
_LONG: Final = re.compile(r" \[inspector_c_.*\]|\.(cpython|abi3|so)[^\]]*(?=\])")
"""In a frame's name: the library of a `%%inspect_c` cell, and the end of a library's file name."""


class KernelSession(FromCell):
    """From `initialize` to `disconnect`; ipykernel itself sends debugpy configurationDone."""

    def __init__(self, editor: Stream, python: Stream, pid: int, cells: CCells) -> None:
        super().__init__(editor, python)
        self._cells = cells
        self.patience_s = math.inf  # JupyterLab waits, and cannot use a refusal
        self.native.pid, self.outlives = pid, True
        self._over = False
        self._state: Message = {}
        self._stopped: set[int] = set()
        """The threads that front ends were told of: debugpy counts every thread while one stands."""
        self._told_stops = 0
        self._said_continued = False
        self.__dict__["do_debugInfo"] = self._answer_state

    def _unchanged(self, request: Message) -> None:
        """ipykernel answers every request."""
        self.forward(request)

    def after(self) -> None:
        """End after `disconnect`."""
        super().after()
        if self._over:
            raise EOFError

    def say(self, text: str) -> None:
        """Below the cell that runs: JupyterLab shows no debug console."""
        self.event(SAID, text=text + "\n")

    def event(self, name: str, **body: Any) -> None:
        """JupyterLab does not show what a stop says: a line below the cell does."""
        if name == "stopped" and body["reason"] == "data breakpoint":
            self.say(body["text"])
        super().event(name, **body)

    def tell(self, message: Message) -> None:
        """JupyterLab reads the rows of an answer that has none too: a thread had just gone on."""
        if message.get("success") is False and message["command"] in _ROWS:
            message = {**message, "body": {_ROWS[message["command"]]: [], **(message.get("body") or {})}}
        if message.get("event") == "stopped":
            self._told_stops += 1
            self._said_continued = False
            self._stopped.add(message["body"]["threadId"])
        elif message.get("event") == "continued":
            self._stopped.discard(message["body"]["threadId"])
        super().tell(message)

    def answer(self, request: Message, **body: Any) -> None:
        """Rows as JupyterLab can show them: it asks each frame for a path, also one without a source, and
        shows a variable's type in place of its value."""
        for frame in body.get("stackFrames", ()):
            source = frame.setdefault("source", {"name": ""})
            source.setdefault("path", source["name"])
            frame["name"] = _LONG.sub("", frame["name"])
            self._cells.show(frame)
        for row in body.get("variables", ()):
            row.pop("type", None)
        super().answer(request, **body)

    def do_attach(self, request: Message) -> None:
        """debugpy attaches; then native breakpoints are set."""
        self.forward(request, self._attached)

    def _attached(self, told: Message) -> None:
        self.hasten()
        self.ask("threads", self.heard_threads)
        self.ask("debugInfo", self._informed)
        for code in self._cells.files:
            self._name(code)
        if any(self._places.values()):
            self.with_gdb(self._place_all, lambda error: self._go_on(None))
        else:
            self._go_on(None)

    def do_inspector_cell(self, request: Message) -> None:
        """A cell is run."""
        code = request["arguments"]["code"]
        self._cells.note(code, "")
        if self._configured and not self._cells.files[code]:
            self._name(code)

    def _name(self, code: str) -> None:
        """Let ipykernel say how it calls a cell."""
        self.ask("dumpCell", lambda told: self._named_cell(code, told), code=code)

    def do_dumpCell(self, request: Message) -> None:
        """A front end is about to set breakpoints in a cell."""
        code = str(request["arguments"]["code"])
        self.forward(request, lambda told: self._named_cell(code, told))

    def _named_cell(self, code: str, told: Message) -> None:
        self._cells.note(code, (told.get("body") or {}).get("sourcePath", ""))

    def do_setBreakpoints(self, request: Message) -> None:
        """Those of C cells are gdb's too."""
        given = request["arguments"]
        path = str(given["source"].get("path") or "")
        if text := self._cells.text(path):
            wanted = given.get("breakpoints") or ()
            self._answer_set(request, path, [self._place(in_cell, text, BEFORE, one) for one in wanted])
        else:
            super().do_setBreakpoints(request)

    def do_configurationDone(self, request: Message) -> None:
        """All was set before."""
        self.forward(request)

    def do_continue(self, request: Message) -> None:
        """JupyterLab forgets which thread stands before it asks, and then names another one."""
        given = request["arguments"]
        if self.standing and given["threadId"] not in self.standing:
            request = {**request, "arguments": {**given, "threadId": next(iter(self.standing))}}
        if self.standing:
            super().do_continue(request)
        else:
            stops, stopped = self._told_stops, list(self._stopped)
            self.forward(request, lambda told: self._continued(stops, stopped))

    def _continued(self, stops: int, stopped: list[int]) -> None:
        """Say so before the answer, which the end of the cell waits for: JupyterLab clears its panel at this
        word, and debugpy's may come after the cell's variables were shown."""
        if stops == self._told_stops:
            for thread in stopped:
                self.event("continued", threadId=thread, allThreadsContinued=True)
            self._said_continued = True

    def heard_continued(self, event: Message) -> bool:
        """False where that was said already."""
        said, self._said_continued = self._said_continued, False
        return not said and super().heard_continued(event)

    def do_disconnect(self, request: Message) -> None:
        """gdb leaves first: ipykernel answers only while the kernel runs."""
        if self.native.client is not None:
            self.leave()
            self.ask("evaluate", lambda told: None, expression=guard(False), context="repl")
        self.forward(request, self._left)

    do_terminate = do_disconnect

    def _left(self, told: Message) -> None:
        self._over = True

    def _answer_state(self, request: Message) -> None:
        """The state of the session, for a front end that comes to a stop in C."""
        if self.standing and self._state:
            self.answer(request, **{**self._state, "stoppedThreads": list(self.standing)})
        else:
            self.forward(request, self._informed)

    def _informed(self, told: Message) -> None:
        self._state = told.get("body") or {}
        threads = self._state.get("stoppedThreads") or ()
        self._state["stoppedThreads"] = [one for one in threads if one in self._stopped]

    def do_inspector_go_on(self, request: Message) -> None:
        """The front end interrupts: threads that stand in C go on."""
        for thread in list(self.standing):
            self.go_on(thread)
            self.event("continued", threadId=thread, allThreadsContinued=False)

    def do_inspector_leave(self, request: Message) -> None:
        """The kernel is about to end."""
        self.leave()


def serve(editor: Stream, python: Stream, pid: int) -> None:
    """One session after the other; an error of ours ends one, and not the kernel."""
    cells = CCells()
    while True:
        session = KernelSession(editor, python, pid, cells)
        try:
            session.run()
        except Exception:
            traceback.print_exc()
        with contextlib.suppress(InspectorError, OSError):
            session.close()
        session.event(RENEWED)
