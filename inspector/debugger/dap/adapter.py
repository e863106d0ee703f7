"""The adapter: what concerns native code goes to gdb, all else to debugpy."""

# SPDX-License-Identifier: MIT
import re
from functools import partial
from pathlib import Path
from typing import Final

from inspector.debugger.dap.breakpoints import CRASHES, THROWN
from inspector.debugger.dap.relay import Then
from inspector.debugger.dap.watchpoints import Watchpoints
from inspector.debugger.dap.wire import Message, Stream
from inspector.debugger.dap.with_gdb import CRASHES_LABEL

_CAPABLE: Final = {
    "supportsDataBreakpoints": True,
    "supportsFunctionBreakpoints": True,
    "supportsDisassembleRequest": True,
    "supportsLoadedSourcesRequest": True,
}
_FILTERS: Final = {THROWN: "C++ Exceptions Thrown", CRASHES: CRASHES_LABEL}
_NAME: Final = re.compile(r"\w+$")


class Adapter(Watchpoints):
    """One editor's session: with stacks and variables of the threads that stand in gdb."""

    def __init__(self, editor: Stream, python: Stream) -> None:
        super().__init__(editor, python)
        self._raised: set[int] = set()
        """Threads that stand at an exception of Python's: asked of another one, debugpy hangs."""
        self.__dict__["do_exceptionInfo"] = self._fault_of

    def do_initialize(self, request: Message) -> None:
        """What debugpy can do, and we."""
        if self.has_program:
            self.refuse(request, "initialize comes once, before launch or attach")
            return
        self._began = dict(request.get("arguments") or {})
        self.forward(request, _add_ours)

    def do_stackTrace(self, request: Message) -> None:
        """The merged stack of a thread that stands in gdb."""
        given = request["arguments"]
        if given["threadId"] not in self.standing:
            super().do_stackTrace(request)
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

    def do_setVariable(self, request: Message) -> None:
        """A number or a pointer of C gets another value; Python's variables are debugpy's."""
        given = request["arguments"]
        if not self.shown.has(given["variablesReference"]):
            self.forward(request)
            return
        try:
            row = self.shown.assigned(given["variablesReference"], str(given["name"]), str(given["value"]))
        except KeyError:
            self.refuse(request, "Python's variables are set while the program stands in Python")
            return
        ref = row["variablesReference"]
        self.answer(request, value=row["value"], type=row["type"], variablesReference=ref)

    def do_setExpression(self, request: Message) -> None:
        """The same by an expression of C."""
        given = request["arguments"]
        if not self.shown.has(given.get("frameId") or 0):
            self._in_python(request)
            return
        row = self.shown.assigned_in(given["frameId"], str(given["expression"]), str(given["value"]))
        ref = row["variablesReference"]
        self.answer(request, value=row["value"], type=row["type"], variablesReference=ref)

    def _fault_of(self, request: Message) -> None:
        """The signal or the exception of C++ at which a thread stands."""
        thread = request["arguments"]["threadId"]
        if thread in self._raised:
            self.forward(request)
        elif thread in self.faults:
            text = self.faults[thread]
            name = text.partition(": ")[0].partition(" at ")[0]
            self.answer(request, exceptionId=name, description=text, breakMode="always")
        else:
            self.refuse(request, "this thread stopped at no exception and no signal")

    def heard_stopped(self, event: Message) -> bool:
        """Note where a thread stands at an exception."""
        thread = event["body"].get("threadId")
        (self._raised.add if event["body"].get("reason") == "exception" else self._raised.discard)(thread)
        return super().heard_stopped(event)

    def forward(self, request: Message, then: Then | None = None) -> None:
        """A thread that goes on stands at no exception."""
        if request["command"] in ("continue", "next", "stepIn", "stepOut"):
            self._raised.clear()
        super().forward(request, then)

    def do_loadedSources(self, request: Message) -> None:
        """Files of native code whose lines are known, and of Python's modules."""
        native = []
        if self.native.client is not None:
            native = [{"name": Path(one).name, "path": one} for one in self.native.call("sources")["files"]]
        if self.standing:
            self.answer(request, sources=native)
        else:
            self.ask_for(request, "modules", partial(self._loaded, request, native))

    def _loaded(self, request: Message, native: list[Message], told: Message) -> None:
        self.answer(request, sources=[*_modules(told), *native])

    def _in_python(self, request: Message) -> None:
        """debugpy's to answer, which it cannot while a thread that stands in C has the GIL."""
        if self.standing:
            self.refuse(request, "Python answers when the thread that stands in native code goes on")
        else:
            self.forward(request)

    do_modules = do_gotoTargets = do_goto = _in_python

    def do_source(self, request: Message) -> None:
        """The text of a file, while Python cannot read it."""
        if not self.standing:
            self.forward(request)
            return
        path = str(request["arguments"]["source"]["path"])
        try:
            self.answer(request, content=Path(path).read_text(errors="replace"))
        except OSError as error:
            self.refuse(request, f"{path}: {error.strerror}")

    def do_completions(self, request: Message) -> None:
        """Names of a frame of a thread that stands in gdb."""
        given = request["arguments"]
        if not self.shown.has(given.get("frameId") or 0):
            self.forward(request)
            return
        typed = str(given["text"])[: int(given["column"]) - 1]
        begun = _NAME.search(typed)
        begin = begun[0] if begun else ""
        names = sorted({one for one in self.shown.names(given["frameId"]) if one.startswith(begin)})
        start = len(typed) - len(begin)
        self.answer(request, targets=[{"label": one, "start": start, "length": len(begin)} for one in names])

    def do_disassemble(self, request: Message) -> None:
        """Instructions around an address, of the program that a thread stands in."""
        given = request["arguments"]
        if not self.standing:
            self.refuse(request, "instructions are read while a thread stands in native code")
            return
        at = int(str(given["memoryReference"]), 0) + int(given.get("offset") or 0)
        ask = {"offset": int(given.get("instructionOffset") or 0), "count": int(given["instructionCount"])}
        thread = next(iter(self.standing.values()))[0]
        found = self.native.call("disassemble", thread=thread, address=at, **ask)
        self.answer(request, instructions=found["instructions"])


def _add_ours(told: Message) -> None:
    told["body"].update(_CAPABLE)
    told["body"].setdefault("exceptionBreakpointFilters", []).extend(
        {"filter": name, "label": label, "default": False} for name, label in _FILTERS.items()
    )


def _modules(told: Message) -> list[Message]:
    rows = (told.get("body") or {}).get("modules", ())
    return [{"name": Path(row["path"]).name, "path": row["path"]} for row in rows if row.get("path")]
