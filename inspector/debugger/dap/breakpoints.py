"""Breakpoints of an editor: those of native code by gdb, those of Python by debugpy."""

# SPDX-License-Identifier: MIT
import itertools
import time
from typing import Any, Final

from inspector.debugger.dap.hit_counts import counted
from inspector.debugger.dap.joining import POLL_S
from inspector.debugger.dap.native_side import quietly
from inspector.debugger.dap.places import (
    FIRST,
    Place,
    answered,
    by_name,
    in_file,
    is_native,
    is_only_native,
    waiting,
)
from inspector.debugger.dap.python_side import AT_ONCE, Joined
from inspector.debugger.dap.relay import TICK_S
from inspector.debugger.dap.unheard import Unheard
from inspector.debugger.dap.wire import Message, Stream
from inspector.debugger.memory import proc
from inspector.errors import InspectorError

FUNCTIONS: Final = "(functions)"
THROWN: Final = "cpp_thrown"
"""The editor's filter of exceptions, and the group of the one breakpoint at each `throw` of C++."""
CRASHES: Final = "crashes"
"""The filter that attaches gdb from the start: it stops at each fatal signal then."""
_THROW: Final = {"spec": "__cxa_throw", "prototype": "", "condition": "", "throws": True}
_FREE_S: Final = 10.0
"""Seconds for debugpy's own gdb to leave a program that it attached to."""
_HERE: Final = ("", "localhost", "127.0.0.1", "::1")


class Breakpoints(Unheard):
    """The breakpoints by file, and those by function."""

    def __init__(self, editor: Stream, python: Stream) -> None:
        super().__init__(editor, python)
        self._places: dict[str, list[Place]] = {}
        self._numbers = itertools.count(FIRST)
        self._configured = self._crashes = self._was_configured = self.has_program = False
        self._free_at = 0.0
        self._began: Message = {}

    def after(self) -> None:
        """Set what waited for debugpy's own gdb."""
        free = self._free_at and (self.native.client is not None or not proc.tracer(self.native.pid))
        if free or (self._free_at and time.monotonic() > self._free_at):
            self._free_at, self.tick_s, self._configured = 0.0, TICK_S, True
            if self._wants_gdb():
                self.with_gdb(self._place_all, lambda error: None)
        super().after()

    def do_launch(self, request: Message) -> None:
        """debugpy launches; once."""
        if self._is_first(request):
            self.forward(request)

    def _is_first(self, request: Message) -> bool:
        if self.has_program:
            self.refuse(request, "this session has a program: begin another session for another one")
            return False
        self.has_program = True
        return True

    def do_attach(self, request: Message) -> None:
        """Note the process; debugpy attaches."""
        given = request.get("arguments") or {}
        pid = int(given.get("processId") or given.get("subProcessId") or 0)
        if not self._is_first(request):
            return
        self.native.pid, self.outlives = pid, True
        connect = given.get("connect") or {}
        host = str((connect or given).get("host") or "")
        if host not in _HERE:
            self.native.refused = f"the program runs on {host}: native code is debugged on this machine only."
        elif connect and given.get("subProcessId"):  # the adapter of the program's parent has it already
            try:
                self.change(Joined(connect), self._began)
            except OSError as error:
                self.refuse(request, f"nobody listens at {connect}: {error.strerror}")
                return
        elif self.native.pid and not given.get("subProcessId") and self.begin_late(request):
            return
        self.forward(request)

    def do_configurationDone(self, request: Message) -> None:
        """The program begins: native breakpoints first."""
        if self._was_configured or not self.has_program:
            self.refuse(request, "launch or attach comes first, and configurationDone once after it")
            return
        self._was_configured = True
        if self.is_late:
            self.configured_late(request)
            return
        self.hasten()
        self.ask("pydevdSystemInfo", lambda told: self._begin(request, told))

    def _begin(self, request: Message, told: Message) -> None:
        pid = told.get("body", {}).get("process", {}).get("pid") if told["success"] else 0
        self.native.pid = int(pid or self.native.pid)
        if proc.tracer(self.native.pid):  # debugpy's own gdb, which leaves when its attach was answered
            self._free_at, self.tick_s = time.monotonic() + _FREE_S, POLL_S
            self._go_on(request)
        elif self._wants_gdb():
            self.with_gdb(lambda: self._place_all(request), lambda error: self._go_on(request))
        else:
            self._go_on(request)

    def _wants_gdb(self) -> bool:
        return self._crashes or any(self._places.values())

    def joined(self) -> None:
        """debugpy is in the attached program; its own gdb leaves soon."""
        self.hasten()
        self.ask("threads", self.heard_threads)
        self._free_at, self.tick_s = time.monotonic() + _FREE_S, POLL_S

    def hasten(self) -> None:
        """Let debugpy's messages come without the delay of 40 ms that each had."""
        self.ask("evaluate", lambda told: None, expression=quietly(AT_ONCE), context="repl")

    def heard_threads(self, told: Message) -> None:
        """debugpy's threads."""

    def place(self) -> None:
        """Set all in gdb, which is attached."""
        self._place_all()

    def _place_all(self, request: Message | None = None) -> None:
        for group, places in self._places.items():
            rows = self._set(group, places)
            for row in rows if group != THROWN else ():
                self.event("breakpoint", reason="changed", breakpoint=row)
        self._go_on(request)

    def _go_on(self, request: Message | None) -> None:
        self._configured = not self._free_at
        if request is not None:
            self.forward(request)
            self.ask("threads", self.heard_threads)

    def _set(self, group: str, places: list[Place]) -> list[Message]:
        told = self.native.set(group, [place for place in places if "wrong" not in place])
        answers = {one["number"]: one for one in told}
        return [
            answered(answers[place["number"]], place) if "wrong" not in place else _wrong(place)
            for place in places
        ]

    def do_setBreakpoints(self, request: Message) -> None:
        """Those of C, C++, Cython, Rust and Fortran files are gdb's."""
        given = request["arguments"]
        if not is_native(given["source"]):
            rows = [counted(one) for one in given.get("breakpoints") or ()]
            self.forward({**request, "arguments": {**given, **({"breakpoints": rows} if rows else {})}})
            return
        path = str(given["source"]["path"])
        wanted = given.get("breakpoints") or [{"line": line} for line in given.get("lines") or ()]
        self._answer_set(request, path, [self._place(in_file, path, one) for one in wanted])

    def do_setFunctionBreakpoints(self, request: Message) -> None:
        """All are gdb's; debugpy gets the names that a Python function could have too."""
        wanted = request["arguments"]["breakpoints"]
        pythonic = [one for one in wanted if not is_only_native(str(one["name"]))]
        if pythonic or any("python" in place for place in self._places.get(FUNCTIONS, ())):
            rows = [counted(one) for one in pythonic]
            self.ask("setFunctionBreakpoints", lambda told: None, breakpoints=rows)
        places = [self._place(by_name, one) for one in wanted]
        for place, one in zip(places, wanted, strict=True):
            place |= {"python": True} if one in pythonic else {}
        self._answer_set(request, FUNCTIONS, places)

    def do_setExceptionBreakpoints(self, request: Message) -> None:
        """Those of C++ and crashes are gdb's."""
        given = request["arguments"]
        own = {"filters": [one for one in given["filters"] if one not in (THROWN, CRASHES)]}
        python = {**request, "arguments": {**given, **own}}
        self._crashes = CRASHES in given["filters"]
        places = [{**_THROW, "number": next(self._numbers)}] if THROWN in given["filters"] else []
        known, self._places[THROWN] = self._places.get(THROWN), places
        if self._configured and (places or known or self._crashes):
            self.with_gdb(
                lambda: self._set_thrown(python, places), lambda error: self.refuse(request, str(error))
            )
        else:
            self.forward(python)

    def _set_thrown(self, request: Message, places: list[Place]) -> None:
        self.native.set(THROWN, places)
        if self.standing:  # Python's are set when the thread goes on
            self.answer(request)
            self.ask("setExceptionBreakpoints", lambda told: None, **request["arguments"])
        else:
            self.forward(request)

    def _place(self, make: Any, *given: Any) -> Place:
        number = next(self._numbers)
        try:
            return dict(make(*given, number))
        except (ValueError, TypeError) as error:
            return {"number": number, "wrong": str(error)}

    def _answer_set(self, request: Message, group: str, places: list[Place]) -> None:
        known = self._places.get(group)
        self._places[group] = places
        if not self._configured and self.native.client is None:
            self.answer(request, breakpoints=[_later(place) for place in places])
        elif places or known:
            self.with_gdb(
                lambda: self.answer(request, breakpoints=self._set(group, places)),
                lambda error: self.answer(request, breakpoints=[_refused(one, error) for one in places]),
            )
        else:
            self.answer(request, breakpoints=[])

    def gdb_places(self, event: Message) -> None:
        """Code was loaded: breakpoints are verified now."""
        known = {place["number"]: place for group in self._places.values() for place in group}
        hidden = {place["number"] for place in self._places.get(THROWN, ())}
        for told in event["places"]:
            if told["number"] in hidden:
                continue
            if told["number"] in known:
                row = answered(told, known[told["number"]])
            else:
                row = _wrong({"number": told["number"], "wrong": told["refused"]})  # a watch that is over
            self.event("breakpoint", reason="changed", breakpoint=row)


def _wrong(place: Place) -> Message:
    return {"id": place["number"], "verified": False, "message": place["wrong"]}


def _refused(place: Place, error: InspectorError) -> Message:
    return _wrong({**place, "wrong": str(error)})


def _later(place: Place) -> Message:
    return _wrong(place if "wrong" in place else {**place, "wrong": waiting(place)})
