"""The client: start a broker, send it requests, and protect this process while gdb traces it."""

# SPDX-License-Identifier: MIT
import contextlib
import ctypes
import itertools
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from inspector.debugger.lines import Lines, Message, over
from inspector.debugger.memory import proc
from inspector.errors import InspectorError, OurFault, heard

START_S: Final = 20.0
LOOK_S: Final = 1.0
"""Seconds between two looks at a broker that is silent."""
ATTACH_S: Final = 90.0
"""Long, because reading torch's symbols takes seconds on a loaded machine."""
_PR_SET_PTRACER: Final = 0x59616D61  # prctl(2), Yama
_BOOT: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from inspector.debugger.broker import main; main()"
)
_ROOT: Final = Path(__file__).resolve().parents[2]


class Client:
    """A connection to its own broker. `call` sends a request and returns the answer."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.folder = tempfile.mkdtemp(prefix="inspector-")
        self.state, self.ended, self.broker = "absent", "", 0
        self.events: list[Message] = []
        self._numbers = itertools.count(1)
        self._answers: dict[int, Message] = {}
        self._lock = threading.Lock()
        try:
            self.lines = self._connected()
            self._greeted(time.monotonic() + START_S)
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _connected(self) -> Lines:
        token = secrets.token_hex(16)
        settings = {"folder": self.folder, "token": token, "target": self.target}
        done = subprocess.run(
            [python(), "-I", "-S", "-c", _BOOT, str(_ROOT)],
            input=json.dumps(settings) + "\n",
            capture_output=True,
            text=True,
            timeout=START_S,
            check=False,
        )
        if done.returncode:
            raise OurFault(
                "the broker of the debugger did not start.",
                slug="our-fault",
                why=done.stderr.strip().splitlines()[-1][:200]
                if done.stderr.strip()
                else "it printed nothing",
                do="please report this with the command that you ran",
            )
        stream = socket.socket(socket.AF_UNIX)
        stream.settimeout(START_S)
        stream.connect(str(Path(self.folder) / "broker"))
        stream.settimeout(None)
        lines = Lines(stream)
        lines.send(token=token)
        return lines

    def _greeted(self, limit: float) -> None:
        """Wait for the broker's number, by which a stopped one is noticed."""
        while not self.broker:
            try:
                self.heard(limit)
            except EOFError:
                self.lines.close()
                raise over("the broker has ended") from None

    def call(self, do: str, deadline_s: float = 10.0, **said: Any) -> Message:
        """Send a request; returns the answer, or raises the InspectorError that the other side sent."""
        number = next(self._numbers)
        try:
            self.lines.send(id=number, do=do, deadline_s=deadline_s, **said)
            answer = self._await(number, time.monotonic() + deadline_s + 10)
        except (EOFError, OSError):
            self.state = "gone"
            raise over(self.ended or "the broker has ended") from None
        if "error" in answer:
            raise heard(answer["error"])
        return answer

    def prepare(self) -> None:
        """Let gdb start and read symbols; `call("start")` then attaches sooner. Waits for no answer."""
        self.lines.send(id=next(self._numbers), do="prepare", deadline_s=ATTACH_S)

    def _await(self, number: int, limit: float) -> Message:
        while number not in self._answers:
            self.heard(limit)
        return self._answers.pop(number)

    def heard(self, limit: float) -> None:
        """Read the next messages. Raises EOFError, also when the broker exceeds `limit` or is stopped."""
        self.lines.stream.settimeout(max(0.01, min(limit - time.monotonic(), LOOK_S)))
        try:  # neither select nor poll: they call C functions that a user may count here
            messages = list(self.lines.receive())
        finally:
            self.lines.stream.settimeout(None)
        if not messages and (time.monotonic() > limit or self._ends_stopped_broker()):
            raise EOFError
        for message in messages:
            self.state = message.get("state", self.state)
            self.ended = message.get("ended", self.ended)
            self.broker = message.get("broker", self.broker)
            if message["id"]:
                self._answers[message["id"]] = message
            elif "event" in message:
                self.events.append(message)

    def _ends_stopped_broker(self) -> bool:
        """Whether a signal had stopped the broker: it is killed, and gdb then leaves."""
        if not self.broker or "T" not in proc.thread_states(self.broker):
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.broker, signal.SIGKILL)
        self.ended = "the broker was stopped by a signal, and was ended"
        return True

    def await_event(self, *names: str, deadline_s: float) -> Message:
        """The next event with one of these names; drops others. Raises InspectorError gdb-late, gdb-ended."""
        limit = time.monotonic() + deadline_s
        while True:
            while self.events:
                event = self.events.pop(0)
                if event.get("event") in names:
                    return event
            if time.monotonic() > limit:
                raise late(deadline_s)
            try:
                self.heard(limit)
            except EOFError:
                if time.monotonic() > limit:
                    raise late(deadline_s) from None
                self.state = "gone"
                return {"event": "ended"}

    def spooled(self) -> Iterator[Message]:
        """The hits that the agent has written so far."""
        path = Path(self.folder) / "hits.jsonl"
        if path.exists():
            for line in path.read_bytes().split(b"\n"):
                with contextlib.suppress(ValueError):  # the last line, incomplete after a kill
                    yield json.loads(line)

    def close(self) -> None:
        """End the session: the broker detaches from the target in any state, and ends."""
        with contextlib.suppress(InspectorError):
            self.call("quit")
        self.lines.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def late(seconds: float) -> InspectorError:
    """The error for an answer that did not come in time."""
    return InspectorError(
        f"nothing happened within {seconds:g} s.",
        slug="gdb-late",
        why="no breakpoint was reached and the program did not end",
        do="wait longer, or give another place",
    )


def python() -> str:
    """The path of a Python to run the broker; the `sys.executable` of an embedding host may be no Python."""
    here = Path(sys.executable or "")
    if "python" in here.name and os.access(here, os.X_OK):
        return str(here)
    name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for folder in (sysconfig.get_config_var("BINDIR") or "", f"{sys.base_prefix}/bin"):
        if os.access(f"{folder}/{name}", os.X_OK):
            return f"{folder}/{name}"
    return shutil.which(name) or shutil.which("python3") or "python3"


def allow_tracer(pid: int) -> None:
    """Allow `pid` and its children to trace this process under Yama; 0 revokes that (prctl(2))."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PTRACER, ctypes.c_ulong(pid), 0, 0, 0)  # EINVAL: no Yama, nothing to allow


@contextlib.contextmanager
def guarded(client: Client) -> Iterator[tuple[int, int] | None]:
    """Arm the guard of native/watch/breakpoint_guard.c, and allow the broker to trace this process."""
    from inspector import _native

    table = _native.traps_arm()
    allow_tracer(int(client.call("state")["broker"]))
    try:
        yield table
    finally:
        allow_tracer(0)
        _native.traps_disarm()
