"""Whatever an editor sends, in whatever order: each request gets an answer, and the program lives.

INSPECTOR_SEQUENCES says how many sequences are sent; `make soak` sends 10,000.
"""

# SPDX-License-Identifier: MIT
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Editor, Message
from debugged import SOAK, until
from hotly import LINE, begun, library, running, runs
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from inspector.debugger.dap.adapter import Adapter
from inspector.debugger.dap.relay import SERVED
from inspector.debugger.memory import proc

SEQUENCES = int(os.environ.get("INSPECTOR_SEQUENCES") or (10_000 if SOAK else 40))
STEPS = 8
KEPT = 400
"""Messages that are remembered, from which numbers of frames and variables are taken."""
pytestmark = [pytest.mark.debugger, pytest.mark.timeout(3600 if SOAK else 180)]

OURS = {name.removeprefix("do_") for name in dir(Adapter) if name.startswith("do_")}
UNKNOWN = {"", "é", "nosuch", "restart", "restartFrame", "cancel", "readMemory", "breakpointLocations"}
COMMANDS = sorted((SERVED | OURS | UNKNOWN) - {"disconnect", "terminate", "launch", "attach"})
_FIELDS = """
threadId frameId variablesReference source sourceReference breakpoints line lines column name names value
expression context levels startFrame start count memoryReference instructionCount instructionOffset offset
filters filterOptions exceptionOptions text targetId dataId singleThread granularity path body
"""
FIELDS = _FIELDS.split()
ODD = st.sampled_from(
    [None, True, -1, 0, 1, 10**9, 10**9 + 1, 2**31, 2**63, 2**70, 0.5, 1e308, "", "é\0", "x" * 5000, "((",
     "*(int*)0", "\U0001f600", "0x0", "/nowhere/a.py", "/nowhere/a.c", "numpy.dot", "%n%s", "{a", [], {}]
)  # fmt: skip
JUNK = st.recursive(
    ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=6,
)
PROCESSES = st.sampled_from([None, -1, 0, 2**40, "x", [], {}])
"""None that there is: gdb would be attached to it."""
BODIES = st.sampled_from(
    [b"", b"[1]", b"{}", b"null", b"\xff\xfe", b"{", b'{"type": "response", "request_seq": {}}',
     b'{"type": "response", "request_seq": 12345}', b'{"type": "event", "event": "stopped"}',
     b'{"type": "request", "seq": "1", "command": "next"}', b"[" * 5000]
)  # fmt: skip


USUAL: Message = {
    "breakpoints": [{"line": LINE}], "filters": [], "expression": "n", "name": "i", "value": "3", "text": "n",
    "column": 2, "memoryReference": "0x1000", "instructionCount": 3,
}  # fmt: skip
CHOSEN = sorted({*USUAL, "threadId", "frameId", "variablesReference", "source"})


class Rig:
    """One program, and one adapter, for all sequences of a test."""

    def __init__(self, editor: Editor, pid: int, thread: int) -> None:
        self.editor, self.pid, self.thread = editor, pid, thread
        self.wrong = ""
        """The sequence that had no answer."""

    def known(self, one: int) -> Message:
        """Arguments that an editor could send now; `one` chooses a frame and a variable."""
        heard = [one["body"] for one in self.editor.heard if one.get("success") and one.get("body")]
        rows = [row for body in heard for key in ("scopes", "variables") for row in body.get(key) or ()]
        frames = [frame["id"] for body in heard for frame in body.get("stackFrames") or ()] or [1]
        references = [row["variablesReference"] for row in rows] or [1]
        return USUAL | {
            "threadId": self.thread or 1,
            "frameId": frames[-1 - one % len(frames)],
            "variablesReference": references[-1 - one % len(references)],
            "source": {"path": str(library().parent / "hotly.c")},
        }


RIGS: list[Rig] = []


class Sequence(RuleBasedStateMachine):
    """One sequence of messages."""

    @initialize()
    def forget(self) -> None:
        self.rig = RIGS[-1]
        self.sent: list[tuple[str, Message]] = []
        del self.rig.editor.heard[:-KEPT]
        self.rig.editor._read = len(self.rig.editor.heard)

    @rule(
        command=st.sampled_from(COMMANDS),
        junk=st.dictionaries(st.sampled_from(FIELDS), JUNK, max_size=5),
        chosen=st.sets(st.sampled_from(CHOSEN)),
        one=st.integers(0, 20),
    )
    def ask(self, command: str, junk: Message, chosen: set[str], one: int) -> None:
        known = self.rig.known(one)
        self._answered(command, junk | {key: known[key] for key in chosen})

    @rule(command=st.sampled_from(["launch", "attach"]), process=PROCESSES)
    def begin_again(self, command: str, process: Any) -> None:
        if self.rig.pid:  # else debugpy waits for the program
            self._answered(command, {"processId": process})

    @rule(body=BODIES)
    def say_nonsense(self, body: bytes) -> None:
        if not self.rig.wrong:
            self.rig.editor.raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    @rule(header=st.sampled_from([b"Content-Length: x", b"Content-Length: -5", b"X: y", b"", b"\xff"]))
    def frame_wrongly(self, header: bytes) -> None:
        if not self.rig.wrong:
            self.rig.editor.raw(header + b"\r\n\r\n")

    def _answered(self, command: str, arguments: Message) -> None:
        """The first request without an answer ends all: another attempt would meet another program."""
        if self.rig.wrong:
            return
        editor = self.rig.editor
        self.sent.append((command, arguments))
        try:
            told = editor.answered(editor.send(command, **arguments))
            assert told["success"] or told["message"], told
            assert not self.rig.pid or proc.alive(self.rig.pid), "the program has ended"
        except (AssertionError, OSError) as error:
            sent = [command for command, _ in self.sent]
            self.rig.wrong = f"{command} {arguments} after {sent}: {str(error)[:500]}"


@pytest.fixture(params=["no program", "running", "standing"])
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    with ExitStack() as stack:
        editor = Editor()
        stack.callback(editor.__exit__)
        if request.param == "no program":
            yield Rig(editor, 0, 0)
            return
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        child = stack.enter_context(running(Path(folder)))
        yield Rig(editor, child.pid, begun(editor, child.pid, request.param == "standing"))
        editor.child.kill()
        until(lambda: runs(child.pid), 10.0)


def test_each_request_is_answered_and_the_program_lives(rig: Rig) -> None:
    RIGS.append(rig)
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Sequence,
        settings=settings(
            max_examples=SEQUENCES,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            phases=[Phase.generate],  # what failed once has changed the program
            suppress_health_check=list(HealthCheck),
        ),
    )
    if rig.wrong:
        pytest.fail(rig.wrong)
