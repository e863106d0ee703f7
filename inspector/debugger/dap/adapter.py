"""The adapter: what concerns native code goes to gdb, all else to debugpy."""

# SPDX-License-Identifier: MIT
from typing import Final

from inspector.debugger.dap.watchpoints import Watchpoints
from inspector.debugger.dap.wire import Message

_CAPABLE: Final = {"supportsDataBreakpoints": True, "supportsFunctionBreakpoints": True}


class Adapter(Watchpoints):
    """One editor's session: with stacks and variables of the threads that stand in gdb."""

    def do_initialize(self, request: Message) -> None:
        """What debugpy can do, and we."""
        self.forward(request, lambda told: told["body"].update(_CAPABLE))

    def do_stackTrace(self, request: Message) -> None:
        """The merged stack of a thread that stands in gdb."""
        given = request["arguments"]
        if given["threadId"] not in self.standing:
            self.forward(request)
            return
        frames = self.shown.stack(self.standing[given["threadId"]][0])
        first = int(given.get("startFrame") or 0)
        levels = int(given.get("levels") or 0) or len(frames)
        self.answer(request, stackFrames=frames[first : first + levels], totalFrames=len(frames))

    def do_scopes(self, request: Message) -> None:
        """The variables of a frame of ours."""
        if self.shown.has(request["arguments"]["frameId"]):
            self.answer(request, scopes=self.shown.scopes(request["arguments"]["frameId"]))
        else:
            super().do_scopes(request)

    def do_variables(self, request: Message) -> None:
        """The rows of a scope, a struct, an array, a Python object."""
        given = request["arguments"]
        if not self.shown.has(given["variablesReference"]):
            super().do_variables(request)
            return
        rows = self.shown.variables(given["variablesReference"])
        first = int(given.get("start") or 0)
        count = int(given.get("count") or 0) or len(rows)
        self.answer(request, variables=rows[first : first + count])

    def do_evaluate(self, request: Message) -> None:
        """A C expression in a native frame, a path in a Python frame above which C stands."""
        given = request["arguments"]
        if not self.shown.has(given.get("frameId") or 0):
            self.forward(request)
            return
        row = self.shown.evaluated(given["frameId"], given["expression"])
        ref = row["variablesReference"]
        self.answer(request, result=row["value"], type=row["type"], variablesReference=ref)
