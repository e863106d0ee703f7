"""What debugpy cannot answer, for a thread that stands in C has the GIL: the editor does not wait for it."""

# SPDX-License-Identifier: MIT
from functools import partial
from typing import Final

from inspector.debugger.dap.joining import Joining
from inspector.debugger.dap.wire import Message

PATIENCE_S: Final = 1.0
"""debugpy answers within milliseconds where the GIL is free."""
_PATIENT: Final = ("initialize", "launch", "attach", "configurationDone", "disconnect", "terminate")
"""Their answers come when something has happened, or have limits of their own."""
_LONG: Final = ("evaluate", "variables", "setVariable", "setExpression")
"""They may run code of the program's for as long as that takes."""
_SILENT_S: Final = 10.0
"""debugpy says nothing to some bad arguments, and of a thread that runs."""
_SILENT: Final = f"Python's debugger has not answered within {_SILENT_S:.0f} s"
_LATER: Final = "Python hears of this when the thread that stands in native code goes on"


class Unheard(Joining):
    """`patience_s`: the editor gets an answer of ours after so many seconds."""

    patience_s = PATIENCE_S

    def after(self) -> None:
        """Answer what has waited too long."""
        super().after()
        if self.standing:
            self._answer_all(self.patience_s, _PATIENT, _LATER)
        self._answer_all(max(_SILENT_S, self.patience_s), (*_PATIENT, *_LONG), _SILENT)

    def _answer_all(self, seconds: float, but: tuple[str, ...], why: str) -> None:
        for number, request in self.unanswered(seconds).items():
            if request["command"] not in but:
                self._answer_late(number, request, why)

    def _answer_late(self, number: int, request: Message, why: str) -> None:
        """Breakpoints are set later, and an event says so then; all else is refused."""
        command = request["command"]
        if command == "setBreakpoints":
            wanted = request["arguments"].get("breakpoints") or ()
            numbers = [next(self.own_numbers) for _ in wanted]
            self.make_own(number, partial(self.tell_set, numbers))
            rows = [{"id": one, "verified": False, "message": why} for one in numbers]
            self.answer(request, breakpoints=rows)
            return
        self.make_own(number, lambda told: None)
        if command == "setExceptionBreakpoints":
            self.answer(request)
        else:
            self.refuse({**request, "command": request.get("asked") or command}, why)
