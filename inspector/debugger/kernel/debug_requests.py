"""Debug requests of the front ends for a session of the Debug Adapter Protocol in another thread.

What the session forwards to debugpy goes to ipykernel's control channel, which passes it on. Each request
gets the status messages and the answer that ipykernel would give; those about our own requests are dropped.
"""

# SPDX-License-Identifier: MIT
import contextlib
import json
import time
from typing import Any, Final

from jupyter_client.session import Session

from inspector.debugger.dap.wire import Message, checked
from inspector.debugger.kernel.c_cells import MAGIC
from inspector.debugger.kernel.channels import Channels, Frames, head
from inspector.debugger.kernel.connection import Connection
from inspector.debugger.kernel.mailbox import Mailbox

LEAVE: Final = "inspector_leave"
GO_ON: Final = "inspector_go_on"
CELL: Final = "inspector_cell"
PANEL: Final = "inspector_panel"
"""Requests of our own to the session."""
SAID: Final = "inspector_said"
RENEWED: Final = "inspector_renewed"
"""Events of the session for us: a line for the user; a new session has begun."""
ASKS: Final = b'"inspector_panel"'
"""The type of a cell's message to the session (sessions/panel.py)."""
_MAGIC: Final = MAGIC.encode()
_RESUMES: Final = ("continue", "next", "stepIn", "stepOut")
_STATE: Final = "debugInfo"
_ORDER_S: Final = 0.05
"""Between an answer on control and a status on iopub that a front end shall get after it."""
_ENDED: Final = {"success": False, "message": "the debug session has ended"}
_NO_ROWS: Final[Message] = {"stackFrames": [], "scopes": [], "variables": []}
"""JupyterLab reads the rows of an answer that has none too."""
Parent = dict[str, Any]


class DebugRequests:
    """Who asked what; `editor` and `python` are our ends of the session's streams."""

    def __init__(self, channels: Channels, given: Connection, editor: Mailbox, python: Mailbox) -> None:
        key, scheme = str(given.get("key", "")).encode(), given.get("signature_scheme") or "hmac-sha256"
        self._session = Session(key=key, signature_scheme=scheme)
        self._own = self._session.session.encode()
        self._channels, self._editor, self._python = channels, editor, python
        self._asked: dict[int, tuple[Frames, Parent]] = {}
        self._passed: dict[str, Message] = {}
        self._late: list[Frames] = []
        """The word that a cell has ended, while a request that let it go on has no answer yet."""
        self._last = 0
        self._parent: Parent = {}
        self._cell: Parent = {}
        """The request of the cell that was run last: what is said appears below it."""
        channels.take(self._runs, self._asks, self._answers, self._publishes)
        channels.watch(editor.fileno(), self._to_front_end)
        channels.watch(python.fileno(), self._to_kernel)

    def tell(self, command: str, **arguments: Any) -> None:
        """A request of our own to the session."""
        self._editor.send({"type": "request", "seq": 0, "command": command, "arguments": arguments})

    def _runs(self, frames: Frames) -> bool:
        """A request of a front end on the shell channel."""
        if b'"execute_request"' in head(frames)[0] and _MAGIC in frames[-1]:
            with contextlib.suppress(ValueError, KeyError):
                code = json.loads(frames[-1])["code"]
                if code.startswith(MAGIC):
                    self.tell(CELL, code=code)
        return False

    def _asks(self, frames: Frames) -> bool:
        """A message of a front end on the control channel."""
        kind = head(frames)[0]
        if b'"shutdown_request"' in kind:
            self.tell(LEAVE)
        elif b'"interrupt_request"' in kind:
            self.tell(GO_ON)
        elif b'"debug_request"' in kind:
            idents, rest = self._session.feed_identities(frames)
            with contextlib.suppress(ValueError):  # not signed with the key: as ipykernel, no answer
                self._ask(idents, self._session.deserialize(rest))
            return True
        return False

    def _ask(self, idents: Frames, message: Parent) -> None:
        self._last += 1
        self._parent = message
        self._asked[self._last] = (idents, message)
        self._status("busy", message)
        found = checked(message["content"])
        if isinstance(found, str):
            self._reply(self._last, {"success": False, "message": found})
        else:
            self._editor.send({**found, "arguments": found.get("arguments") or {}, "seq": self._last})

    def _reply(self, number: int, body: Message) -> None:
        idents, parent = self._asked.pop(number, ((), {}))
        if parent:
            own = {"type": "response", "request_seq": parent["content"].get("seq", 0)}
            self._channels.answer(self._made("debug_reply", {**body, **own}, parent, list(idents)))
            self._status("idle", parent)
        if self._late and not self._is_resuming():
            time.sleep(_ORDER_S)
            late, self._late = self._late, []
            for frames in late:
                self._channels.publish(frames)

    def _is_resuming(self) -> bool:
        return any(asked["content"].get("command") in _RESUMES for _, asked in self._asked.values())

    def _status(self, state: str, parent: Parent) -> None:
        self._publish("status", {"execution_state": state}, parent)

    def _publish(self, kind: str, content: Message, parent: Parent) -> None:
        topic = f"kernel.{self._session.session}.{kind}".encode()
        self._channels.publish(self._made(kind, content, parent, [topic]))

    def _made(self, kind: str, content: Message, parent: Parent, idents: Frames) -> Frames:
        return self._session.serialize(self._session.msg(kind, content, parent or None), idents)

    def _to_front_end(self) -> None:
        for message in self._editor.receive():
            if message["type"] == "response":
                self._reply(message["request_seq"], message)
            elif message.get("event") == SAID:
                self._publish("stream", {"name": "stderr", "text": message["body"]["text"]}, self._cell)
            elif message.get("event") == RENEWED:
                self._renew()
            else:
                self._publish("debug_event", message, self._parent)

    def _renew(self) -> None:
        """What the ended session left unanswered. JupyterLab asks for the state at any time and reads all."""
        for number, (_, parent) in list(self._asked.items()):
            if parent["content"].get("command") == _STATE:
                self._editor.send({**parent["content"], "seq": number})
            else:
                self._reply(number, {**_ENDED, "body": dict(_NO_ROWS)})

    def _to_kernel(self) -> None:
        for message in self._python.receive():
            made = self._session.msg("debug_request", message)
            self._passed[made["header"]["msg_id"]] = message
            self._channels.ask(self._session.serialize(made))

    def _answers(self, frames: Frames) -> bool:
        """A message of ipykernel's on the control channel: ours where no front end's identity leads it."""
        if self._own not in head(frames)[1]:
            return False
        answer = self._heard(frames)
        request = self._passed.pop(answer["parent_header"]["msg_id"], None)
        if request is not None:
            content = answer["content"]
            body = {"success": bool(content), "command": request["command"], **content}
            self._python.send({**body, "type": "response", "request_seq": request["seq"]})
        return True

    def _heard(self, frames: Frames) -> Parent:
        found: Parent = self._session.deserialize(self._session.feed_identities(frames)[1])
        return found

    def _publishes(self, frames: Frames) -> bool:
        """A message of ipykernel's on iopub."""
        kind, parent = head(frames)
        if b'"debug_event"' in kind:
            event = self._heard(frames)
            if self._own not in parent:
                self._parent = {"header": event["parent_header"]}
            self._python.send({"body": {}, **event["content"], "type": "event"})
            return True
        if b'"execute_input"' in kind:
            self._parent = self._cell = {"header": self._heard(frames)["parent_header"]}
        if ASKS in kind:
            self.tell(PANEL, **self._heard(frames)["content"])
            return True
        is_status = b'"status"' in kind
        if is_status and b'"execute_request"' in parent and b'"idle"' in frames[-1] and self._is_resuming():
            self._late.append(frames)  # JupyterLab shows variables at this word, if no thread stands any more
            return True
        return self._own in parent and is_status
