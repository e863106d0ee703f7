"""The order in which a front end hears of a cell that a debug request lets go on."""

# SPDX-License-Identifier: MIT
from typing import Any

import pytest
from jupyter_client.session import Session

from inspector.debugger.kernel.debug_requests import RENEWED, DebugRequests
from inspector.debugger.kernel.mailbox import Mailbox

pytestmark = [pytest.mark.debugger, pytest.mark.quick]


class Line:
    """Channels that note the types of the messages to the front end."""

    def __init__(self) -> None:
        self.session, self.said = Session(key=b"k"), list[str]()

    def take(self, run: Any, asked: Any, answered: Any, published: Any) -> None:
        self.asked, self.published = asked, published

    def watch(self, source: Any, do: Any) -> None:
        self.from_session = getattr(self, "from_session", do)  # of the first: the editor's side

    def note(self, frames: list[bytes]) -> None:
        message = self.session.deserialize(self.session.feed_identities(frames)[1])
        of = message["parent_header"].get("msg_type", "")
        self.said.append(f"{message['content'].get('execution_state') or message['msg_type']} of {of}")

    answer = publish = note


@pytest.mark.parametrize(("command", "is_held"), [("continue", True), ("next", True), ("variables", False)])
def test_a_cell_has_ended_after_the_request_that_let_it_go_on(command: str, is_held: bool) -> None:
    line, editor = Line(), Mailbox()
    DebugRequests(line, {"key": "k"}, editor, Mailbox())  # type: ignore[arg-type, typeddict-item]
    request = {"type": "request", "seq": 7, "command": command, "arguments": {}}
    line.asked(line.session.serialize(line.session.msg("debug_request", request), [b"front"]))
    (passed,) = editor.other.receive()
    cell = line.session.msg("execute_request", {"code": "x"})
    ended = line.session.msg("status", {"execution_state": "idle"}, cell)
    if not line.published(frames := line.session.serialize(ended, [b"status"])):
        line.publish(frames)
    assert ("idle of execute_request" in line.said) is not is_held
    editor.other.send({"type": "response", "request_seq": passed["seq"], "success": True, "command": command})
    line.from_session()
    answered = line.said.index("debug_reply of debug_request")
    assert (answered < line.said.index("idle of execute_request")) is is_held
    assert line.said.count("idle of execute_request") == 1


def test_a_question_that_is_open_when_the_session_ends_is_answered_without_rows() -> None:
    line, editor, answers = Line(), Mailbox(), list[Any]()
    line.answer = answers.append  # type: ignore[method-assign]
    DebugRequests(line, {"key": "k"}, editor, Mailbox())  # type: ignore[arg-type, typeddict-item]
    request = {"type": "request", "seq": 7, "command": "variables", "arguments": {}}
    line.asked(line.session.serialize(line.session.msg("debug_request", request), [b"front"]))
    editor.other.send({"type": "event", "event": RENEWED, "body": {}})
    line.from_session()
    told = line.session.deserialize(line.session.feed_identities(answers[0])[1])["content"]
    assert not told["success"] and told["body"]["variables"] == []
