"""Threads, stops and steps in both languages."""

# SPDX-License-Identifier: MIT
import ast
import contextlib
import json
import math
import time
from functools import partial
from pathlib import Path
from typing import Final

from inspector.debugger.dap import line_calls
from inspector.debugger.dap.breakpoints import Breakpoints
from inspector.debugger.dap.joining import NOT_YET
from inspector.debugger.dap.places import FIRST
from inspector.debugger.dap.wire import Message, Stream
from inspector.debugger.memory import proc
from inspector.errors import InspectorError

_STEPS: Final = {"next": "next", "stepIn": "step", "stepOut": "finish"}
_PAUSE_S: Final = 0.05
"""From asking debugpy to stop a thread to letting it go on: its reader then waits for the GIL, and gets it
when the C call returns (sys.getswitchinterval() is 5 ms)."""
_PYTHON_PAUSES_S: Final = 0.5
"""After so many seconds without a stop in Python a paused thread is taken to be in C, with the GIL."""
_NAMES_S: Final = 1.0
"""debugpy is asked for the names of new threads once in so many seconds."""
_HANDED_S: Final = 2.0
"""A thread that waits for debugpy's answer goes on after so many seconds."""
_REASONS: Final = {"watchpoint": "data breakpoint"}
"""What the protocol calls gdb's."""
_LOOK: Final = (
    "(lambda there, names: (exec({text!r}, there), there['line_calls']({file!r}, {line}, names))[1])"
    "({{'__name__': 'line_calls'}}, (locals(), globals(), __import__('builtins').__dict__))"
)


class Steps(Breakpoints):
    """Which threads debugpy steps, and what each waits for."""

    def __init__(self, editor: Stream, python: Stream) -> None:
        super().__init__(editor, python)
        self._names: list[Message] = []
        self._named_at = self._silent_at = 0.0
        self._is_new = False
        self.faults: dict[int, str] = {}
        """The signal or the exception of C++ at which a thread stands."""
        self._known: dict[int, int] = {}
        self._stepping: set[int] = set()
        self._pausing: set[int] = set()
        self._cancelled: set[int] = set()
        self._passing: set[int] = set()
        self._paused: dict[int, float] = {}
        self._stops = 0
        self._handing: dict[int, dict[str, float]] = {}

    def after(self) -> None:
        """Let a thread go on for which debugpy did not answer; pause in C what Python could not."""
        super().after()
        if self._is_new and time.monotonic() > self._named_at:
            self._is_new, self._named_at = False, time.monotonic() + _NAMES_S
            self.ask("threads", self.heard_threads)
        if self._silent_at and time.monotonic() > self._silent_at:
            self._silent_at = 0.0
            if rows := self._names or self._of_kernel():
                self.answer_waiting(("threads",), threads=rows)
        for kernel, done in list(self._handing.items()):
            if time.monotonic() - done.get("handed", math.inf) > _HANDED_S:
                self._handed(kernel, "asked")
        for thread, limit in list(self._paused.items()):
            if time.monotonic() > limit:
                del self._paused[thread]
                self.with_gdb(partial(self._pause_in_c, thread, self._stops), lambda error: None)

    def do_threads(self, request: Message) -> None:
        """debugpy's threads and gdb's; debugpy cannot answer while a stopped thread has the GIL."""
        if self.is_late:
            self.late_threads(request, self._of_kernel())
            return
        if not self.standing:
            self._silent_at = time.monotonic() + _PYTHON_PAUSES_S
            self.forward(request, self._answered_threads)
            return
        named, names = {one["id"] for one in self._names}, self.shown.threads()
        own = [
            {"id": number, "name": f"{names.get(thread) or 'native thread'} ({thread})"}
            for number, (thread, _) in self.standing.items()
            if number not in named
        ]
        self.answer(request, threads=[*self._names, *own])

    def _of_kernel(self) -> list[Message]:
        """The kernel's threads: debugpy has none in a program before C code there lets the GIL go."""
        pid, names = self.native.pid, self.shown.threads() if self.is_late else {}
        every = proc.threads(pid) if pid else ()
        rows = [(kernel, names.get(kernel) or proc.thread_name(pid, kernel)) for kernel in every]
        return [{"id": FIRST + kernel, "name": f"{name} ({kernel})"} for kernel, name in rows]

    def _answered_threads(self, told: Message) -> None:
        self._silent_at = 0.0
        self.heard_threads(told)

    def heard_threads(self, told: Message) -> None:
        """debugpy's threads, for when it cannot answer."""
        if told["success"]:
            self._names = list(told["body"]["threads"])

    def heard_thread(self, event: Message) -> None:
        """A thread of Python's began or ended."""
        self._is_new = self._is_new or event["body"].get("reason") == "started"

    def do_continue(self, request: Message) -> None:
        """Let one native stop go on."""
        if request["arguments"]["threadId"] not in self.standing:
            self.forward(request)
            return
        self.go_on(request["arguments"]["threadId"])
        self.answer(request, allThreadsContinued=False)

    def go_on(self, thread: int) -> None:
        """Let a native stop go on; what is left of a step is given up."""
        self._go(thread, "continue")
        if thread in self._stepping:
            self._stepping.discard(thread)
            self._cancelled.add(thread)

    def _go(self, thread: int, how: str) -> None:
        self.native.call("go", thread=self.standing[thread][0], how=how)
        self._gone_on(thread)

    def _gone_on(self, thread: int) -> None:
        self.faults.pop(thread, None)
        self.shown.forget(self.standing.pop(thread)[0])

    def do_next(self, request: Message) -> None:
        """Step over, in C or in Python."""
        self._step(request)

    def do_stepOut(self, request: Message) -> None:
        """Step out: of C to its caller in C, else to the Python line that called."""
        self._step(request)

    def do_stepIn(self, request: Message) -> None:
        """Step in: at a Python line into the first of its C functions, or of its Python functions."""
        thread = request["arguments"]["threadId"]
        if thread in self.standing or self.native.refused:
            self._step(request)
            return
        ask = {"threadId": thread, "startFrame": 0, "levels": 1}
        self.ask_for(request, "stackTrace", lambda told: self._look(request, told), **ask)

    def _look(self, request: Message, told: Message) -> None:
        frames = (told.get("body", {}).get("stackFrames") if told["success"] else None) or [{}]
        path = frames[0].get("source", {}).get("path")
        if not path:
            self.forward(request)
            return
        expression = looking(path, frames[0]["line"])
        ask = {"expression": expression, "frameId": frames[0]["id"], "context": "clipboard"}
        self.ask_for(request, "evaluate", lambda answer: self._step_into(request, answer), **ask)

    def _step_into(self, request: Message, told: Message) -> None:
        """One-shot breakpoints at the functions that the line will call; then debugpy steps."""
        found = called(told)
        if found.get("entries"):
            self.with_gdb(lambda: self._arm(request, found), lambda error: self._step_over(request, error))
        else:
            self.forward(request)

    def _step_over(self, request: Message, error: InspectorError) -> None:
        """gdb did not set the breakpoints: say so, where that was not said of the whole session."""
        if not self.native.refused:
            self.say(f"This step does not enter C: {error}")
        self.forward(request)

    def _arm(self, request: Message, found: Message) -> None:
        thread = request["arguments"]["threadId"]
        self._known[found["thread"]] = thread
        self.native.call("once", **found)
        self._stepping.add(thread)
        self.forward(request)

    def _step(self, request: Message) -> None:
        thread = request["arguments"]["threadId"]
        if thread not in self.standing:
            self.forward(request)
            return
        if self.standing[thread][1] and self.is_late:
            self.refuse(request, NOT_YET)
            return
        if self.standing[thread][1]:
            self._step_python(thread)
        else:
            self._go(thread, _STEPS[request["command"]])
        self.answer(request)

    def _step_python(self, thread: int) -> None:
        """From a Python line whose C call has just returned to its next line.

        debugpy stops the thread there. To hear that, it needs the GIL, which the thread has. So the thread
        goes on to where it waits for the GIL again, and stands there until debugpy has answered.
        """
        if thread in self._stepping:
            self._go(thread, "continue")
            return
        kernel = self.standing[thread][0]
        self._pausing.add(thread)
        self._handing.pop(kernel, None)
        self.ask("pause", lambda told: self._handed(kernel, "asked"), threadId=thread)
        time.sleep(_PAUSE_S)
        self.native.call("hand_over", thread=kernel)
        self._gone_on(thread)

    def _handed(self, kernel: int, what: str) -> None:
        """Let the thread go on once it has handed over the GIL and debugpy has answered."""
        done = self._handing.setdefault(kernel, {})
        done[what] = time.monotonic()
        if len(done) == 2:
            del self._handing[kernel]
            self.native.call("go", thread=kernel, how="continue")

    def do_pause(self, request: Message) -> None:
        """debugpy pauses; where the thread is in C for longer, gdb does."""
        thread = request["arguments"]["threadId"]
        if thread in self.standing:
            self.answer(request)
            return
        if thread > FIRST and thread - FIRST in proc.threads(self.native.pid):
            self.answer(request)
            self.join_after()
            self.with_gdb(partial(self._interrupt, thread - FIRST), lambda error: self.say(str(error)))
            return
        self._paused[thread] = time.monotonic() + _PYTHON_PAUSES_S
        self.forward(request)

    def _interrupt(self, kernel: int) -> None:
        if self.is_late:
            self.place()
        self.native.call("interrupt", thread=kernel)

    def _pause_in_c(self, thread: int, stops: int) -> None:
        if stops != self._stops:  # Python has stopped meanwhile
            return
        name = next((one["name"] for one in self._names if one["id"] == thread), "")
        kernels = [kernel for kernel, known in self._known.items() if known == thread]
        kernels += [kernel for kernel, one in self.shown.threads().items() if one == name]
        if kernels:
            self._interrupt(kernels[0])
            self._known[kernels[0]] = thread

    def heard_stopped(self, event: Message) -> bool:
        """Python has stopped: what a step into native code has set is removed.

        False where that step was given up meanwhile: the thread goes on, and the editor does not hear of it.
        """
        thread, reason = event["body"].get("threadId"), event["body"].get("reason")
        if thread in self._stepping and reason == "step":
            told = partial(self._stopped_inside, event)
            self.ask("stackTrace", told, threadId=thread, startFrame=0, levels=1)
            return False
        return self._stopped_in_python(event)

    def _stopped_inside(self, event: Message, told: Message) -> None:
        """Pass NumPy's dispatchers over: C calls them before the function that is stepped into.

        debugpy's step out stops before the C that called goes on; from there the step goes on.
        """
        frames = (told.get("body") or {}).get("stackFrames") or [{}]
        path, name = str(frames[0].get("source", {}).get("path")), str(frames[0].get("name"))
        thread = event["body"]["threadId"]
        if thread in self._passing:
            self._passing.discard(thread)
            self.ask("stepIn", lambda told: None, threadId=thread)
        elif "/numpy/" in path and (name.endswith("_dispatcher") or path.endswith("/multiarray.py")):
            self._passing.add(thread)
            self.ask("stepOut", lambda told: None, threadId=thread)
        elif self._stopped_in_python(event):
            self.tell(event)

    def _stopped_in_python(self, event: Message) -> bool:
        thread, reason = event["body"].get("threadId"), event["body"].get("reason")
        self._paused.pop(thread, None)
        self._stops += 1
        self.soon()
        if thread in self.standing:  # gdb was killed, and the word of that comes later
            self._gone_on(thread)
        if thread in self._stepping:
            self._stepping.discard(thread)
            with contextlib.suppress(InspectorError):
                self.native.call("never")
        if thread in self._cancelled:
            self._cancelled.discard(thread)
            if reason in ("step", "pause"):
                self.ask("continue", lambda told: None, threadId=thread)
                return False
        if thread in self._pausing:
            self._pausing.discard(thread)
            event["body"]["reason"] = "step"
        return True

    def heard_continued(self, event: Message) -> bool:
        """False while threads stand in C: debugpy's word of the step that led there comes late."""
        return not self.standing

    def gdb_handed(self, event: Message) -> None:
        """A thread waits for the GIL, which it has handed over."""
        self._handed(event["thread"], "handed")

    def _named(self, name: str) -> int:
        """debugpy's thread of this name; 0 for none, or several."""
        found = [int(one["id"]) for one in self._names if one["name"] == name]
        return found[0] if len(found) == 1 else 0

    def gdb_stopped(self, event: Message) -> None:
        """A thread stands in gdb."""
        kernel = int(event["thread"])
        thread = (
            self._known.get(kernel) or self._named(self.shown.threads().get(kernel, "")) or FIRST + kernel
        )
        if thread < FIRST:
            self._known[kernel] = thread
        self.standing[thread] = (kernel, bool(event["python"]))
        self.answer_waiting(("continue", "pause", *_STEPS))
        if event["reason"] == "pause":  # debugpy's own comes later
            self._cancelled.add(thread)
        reason = event["reason"]
        body: Message = {"threadId": thread, "allThreadsStopped": False}
        if event["numbers"]:
            body["hitBreakpointIds"] = event["numbers"]
        if said := event["says"] or event["fault"]:
            body |= {"text": said, "description": said}
        if event["fault"]:
            self.faults[thread] = event["fault"]
        reason = "exception" if event["fault"] else _REASONS.get(reason, reason)
        self.event("stopped", reason=reason, **body)


def looking(path: str, line: int) -> str:
    """Python that says, in a frame at this line, which C functions the line will call."""
    return _LOOK.format(text=Path(line_calls.__file__).read_text(), file=path, line=line)


def called(told: Message) -> Message:
    """What it said: the thread and the entries; {} where it could not be evaluated."""
    try:
        return dict(json.loads(ast.literal_eval(told["body"]["result"])))
    except (ValueError, SyntaxError, KeyError):
        return {}
