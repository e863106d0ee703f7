"""Requests of an editor go to debugpy and the answers back, each side with sequence numbers of its own.

An adapter adds methods `do_COMMAND(request)`, which answer a request themselves, and `heard_EVENT(event)`,
which see an event of debugpy's before the editor does.
"""

# SPDX-License-Identifier: MIT
import selectors
import time
from collections.abc import Callable, Collection
from typing import Any, Final, NamedTuple

from inspector.debugger.dap.wire import Message, Stream
from inspector.errors import InspectorError

Then = Callable[[Message], None]
_ANSWERED: Final = """
initialize launch attach configurationDone disconnect terminate threads pause continue next stepIn stepOut
stepInTargets stackTrace scopes variables setVariable setExpression evaluate completions exceptionInfo
setBreakpoints setFunctionBreakpoints setExceptionBreakpoints modules source goto gotoTargets
setDebuggerProperty setPydevdSourceMap pydevdAuthorize pydevdSystemInfo debugpySystemInfo
"""
SERVED: Final = frozenset(_ANSWERED.split())
"""The requests that debugpy answers; it says nothing to any other."""
TICK_S: Final = 1.0
FAILED: Final = 1
"""The id of our error messages: an editor shows their text."""


class Passed(NamedTuple):
    """A request of the editor's that waits for debugpy since `at` (seconds, monotonic)."""

    request: Message
    then: Then | None
    answers: bool
    """`then` answers it, and debugpy's answer is not passed on."""
    at: float


class Relay:
    """One editor and one debugpy."""

    def __init__(self, editor: Stream, python: Stream) -> None:
        self.editor, self.python = editor, python
        self.selector = selectors.PollSelector()
        self.selector.register(editor, selectors.EVENT_READ, self._hear_editor)
        self.selector.register(python, selectors.EVENT_READ, self._hear_python)
        self.tick_s = TICK_S
        self._told = self._passed = 0
        self._waiting: dict[int, Passed] = {}
        self._own: dict[int, Then] = {}
        self._reverse: dict[int, int] = {}

    def run(self) -> None:
        """Serve until either side closes."""
        try:
            while True:
                for key, _ in self.selector.select(self.tick_s):
                    self._guarded(key.data)
                self._guarded(self.after)
        except (EOFError, OSError):
            return

    def _guarded(self, do: Callable[[], None]) -> None:
        try:
            do()
        except InspectorError as error:
            self.say(str(error))

    def change(self, python: Stream, begin: Message) -> None:
        """Speak with another debugpy from now on, which gets the arguments of `initialize` too."""
        self.selector.unregister(self.python)
        self.python = python
        self.selector.register(python, selectors.EVENT_READ, self._hear_python)
        self.ask("initialize", lambda told: None, **begin)

    def after(self) -> None:
        """Called when all that came was carried out."""

    def tell(self, message: Message) -> None:
        """Send a message to the editor."""
        self._told += 1
        self.editor.send({**message, "seq": self._told})

    def event(self, name: str, **body: Any) -> None:
        """Send an event to the editor."""
        self.tell({"type": "event", "event": name, "body": body})

    def answer(self, request: Message, **body: Any) -> None:
        """Answer the editor's request."""
        head = {"type": "response", "request_seq": request["seq"], "command": request["command"]}
        self.tell({**head, "success": True, "body": body})

    def refuse(self, request: Message, why: str) -> None:
        """Answer the editor's request with an error."""
        head = {"type": "response", "request_seq": request["seq"], "command": request["command"]}
        body = {
            "error": {"id": FAILED, "format": why.replace("{", "{{").replace("}", "}}"), "showUser": True}
        }
        self.tell({**head, "success": False, "message": why, "body": body})

    def say(self, text: str) -> None:
        """A line on the editor's debug console."""
        self.event("output", category="console", output=text + "\n")

    def forward(self, request: Message, then: Then | None = None) -> None:
        """Pass a request on to debugpy; `then` may change its answer."""
        self._passed += 1
        self._waiting[self._passed] = Passed(request, then, False, time.monotonic())
        self.python.send({**request, "seq": self._passed})

    def answer_waiting(self, commands: Collection[str], **body: Any) -> None:
        """Answer these requests in place of debugpy, which cannot while a stopped thread has the GIL."""
        for number, (request, *_) in list(self._waiting.items()):
            if request["command"] in commands:
                del self._waiting[number]
                self.answer(request, **body)

    def unanswered(self, seconds: float) -> dict[int, Message]:
        """What was passed on so long ago and has no answer yet, by debugpy's number."""
        since = time.monotonic() - seconds
        return {number: request for number, (request, *_, at) in self._waiting.items() if at < since}

    def make_own(self, number: int, then: Then) -> None:
        """The editor has its answer; `then` gets debugpy's."""
        del self._waiting[number]
        self._own[number] = then

    def ask_for(self, request: Message, command: str, then: Then, **arguments: Any) -> None:
        """Ask debugpy for what the editor's request needs; `then` answers the editor."""
        self._passed += 1
        self._waiting[self._passed] = Passed(request, then, True, time.monotonic())
        self.python.send({"type": "request", "command": command, "arguments": arguments, "seq": self._passed})

    def ask(self, command: str, then: Then, **arguments: Any) -> None:
        """A request of our own to debugpy."""
        self._passed += 1
        self._own[self._passed] = then
        self.python.send({"type": "request", "command": command, "arguments": arguments, "seq": self._passed})

    def _hear_editor(self) -> None:
        for message in self.editor.receive():
            if isinstance(message, str):
                self.refuse({"seq": 0, "command": ""}, f"not a message of the protocol: {message}")
            elif message["type"] == "request":
                self._serve(message)
            elif message["type"] == "response" and message["request_seq"] in self._reverse:
                self._passed += 1
                number = self._reverse.pop(message["request_seq"])
                self.python.send({**message, "request_seq": number, "seq": self._passed})

    def _serve(self, request: Message) -> None:
        do = getattr(self, f"do_{request['command']}", self._unchanged)
        try:
            do(request)
        except InspectorError as error:
            refused = error.slug == "gdb-refused" and error.why
            self.refuse(request, refused or str(error))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            self.refuse(
                request, f"bad arguments of {request['command']}: {type(error).__name__} {error}"[:200]
            )

    def _unchanged(self, request: Message) -> None:
        """Pass a request on that debugpy answers; refuse any other."""
        if request["command"] in SERVED:
            self.forward(request)
        else:
            self.refuse(request, f"the request {request['command'][:60]!r} is not known here")

    def _hear_python(self) -> None:
        for message in self.python.receive():
            if isinstance(message, str):
                continue
            if message["type"] == "response":
                self._hear_answer(message)
            elif message["type"] == "request":
                self.tell(message)
                self._reverse[self._told] = message["seq"]
            else:
                heard = getattr(self, f"heard_{message['event']}", None)
                if heard is None or heard(message) is not False:
                    self.tell(message)

    def _hear_answer(self, message: Message) -> None:
        number = message["request_seq"]
        if then := self._own.pop(number, None):
            then(message)
            return
        if number not in self._waiting:  # answered already
            return
        request, then, answers, _ = self._waiting.pop(number)
        if then is not None and answers:
            then(message)
            return
        if then is not None and message["success"]:
            then(message)
        body = {} if message["success"] else {"body": message.get("body") or {}}  # debugpy leaves it out
        own = {"request_seq": request["seq"], "command": request.get("asked") or message["command"]}
        self.tell({**message, **body, **own})
