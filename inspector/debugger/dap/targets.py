"""The functions of one line that an editor offers to step into: debugpy's of Python, and those of C."""

# SPDX-License-Identifier: MIT
import itertools
from functools import partial

from inspector.debugger.dap.places import FIRST
from inspector.debugger.dap.steps import Steps, called, looking
from inspector.debugger.dap.wire import Message, Stream
from inspector.errors import InspectorError


class Targets(Steps):
    """What was offered, by number."""

    def __init__(self, editor: Stream, python: Stream) -> None:
        super().__init__(editor, python)
        self._lines: dict[int, tuple[str, int]] = {}
        self._offered: dict[int, Message] = {}
        self._next = itertools.count(FIRST)

    def do_stackTrace(self, request: Message) -> None:
        """Remember the line of each of debugpy's frames."""
        self.forward(request, self._note_lines)

    def _note_lines(self, told: Message) -> None:
        for frame in told["body"]["stackFrames"]:
            self._lines[frame["id"]] = (frame.get("source", {}).get("path") or "", frame["line"])

    def do_stepInTargets(self, request: Message) -> None:
        """The functions that the line of a frame will call."""
        frame = request["arguments"]["frameId"]
        if self.shown.has(frame):
            self.answer(request, targets=[])
            return
        self.ask_for(request, "stepInTargets", partial(self._add, request, frame), frameId=frame)

    def _add(self, request: Message, frame: int, told: Message) -> None:
        targets = list((told.get("body") or {}).get("targets") or ()) if told["success"] else []
        path, line = self._lines.get(frame, ("", 0))
        if not path or self.native.refused:
            self.answer(request, targets=targets)
            return
        ask = {"expression": looking(path, line), "frameId": frame, "context": "clipboard"}
        self.ask_for(request, "evaluate", lambda answer: self._offer_all(request, targets, answer), **ask)

    def _offer_all(self, request: Message, targets: list[Message], answer: Message) -> None:
        found = called(answer)
        for entry in found.get("entries", ()):
            number = next(self._next)
            self._offered[number] = {**found, "entries": [entry]}
            targets.append({"id": number, "label": f"{entry['name']} in C"})
        self.answer(request, targets=targets)

    def do_stepIn(self, request: Message) -> None:
        """Into the function that was chosen; what the line calls before it is stepped over."""
        chosen = self._offered.get(request["arguments"].get("targetId") or 0)
        if chosen is None:
            super().do_stepIn(request)
            return
        thread = request["arguments"]["threadId"]
        over = {**request, "command": "next", "asked": "stepIn", "arguments": {"threadId": thread}}
        self.with_gdb(lambda: self._arm(over, chosen), partial(self._refused_target, request))

    def _refused_target(self, request: Message, error: InspectorError) -> None:
        self.refuse(request, str(error))
