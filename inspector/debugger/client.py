"""The client's side: start a broker, talk to it, and keep this process safe while it is traced."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import json
import os
import secrets
import shutil
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

from inspector.debugger.lines import Lines, Message
from inspector.errors import InspectorError, OurFault, TargetGone

START_S: Final = 20.0
ATTACH_S: Final = 90.0
"""Reading the symbols of a torch takes seconds on a loaded machine."""
_PR_SET_PTRACER: Final = 0x59616D61  # prctl(2), Yama
_BOOT: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from inspector.debugger.broker import main; main()"
)
_ROOT: Final = Path(__file__).resolve().parents[2]
_KINDS: Final = {"TargetGone": TargetGone, "OurFault": OurFault}


class Client:
    """A connection to a broker of our own. `call` is a request and its answer."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.folder = tempfile.mkdtemp(prefix="inspector-")
        self.state, self.ended = "absent", ""
        self.events: list[Message] = []
        self._numbers = itertools.count(1)
        self._answers: dict[int, Message] = {}
        self._lock = threading.Lock()
        try:
            self.lines = self._connected()
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
                why=done.stderr.strip().splitlines()[-1][:200] if done.stderr.strip() else "it said nothing",
                do="please report it with the command you typed",
            )
        stream = socket.socket(socket.AF_UNIX)
        stream.settimeout(START_S)
        stream.connect(str(Path(self.folder) / "broker"))
        stream.settimeout(None)
        lines = Lines(stream)
        lines.send(token=token)
        return lines

    def call(self, do: str, deadline_s: float = 10.0, **said: Any) -> Message:
        """The answer to a request. Raises the InspectorError that the other side says."""
        number = next(self._numbers)
        try:
            self.lines.send(id=number, do=do, deadline_s=deadline_s, **said)
            answer = self._await(number, time.monotonic() + deadline_s + 10)
        except (EOFError, OSError):
            self.state = "gone"
            raise InspectorError(
                "the session with gdb is over.",
                slug="gdb-ended",
                why="the broker has ended",
                do="what was collected is kept; begin another session for more",
            ) from None
        if "error" in answer:
            raise raised(answer["error"])
        return answer

    def _await(self, number: int, limit: float) -> Message:
        while number not in self._answers:
            self._read(limit)
        return self._answers.pop(number)

    def _read(self, limit: float) -> None:
        """Take in what arrives next. Raises EOFError, also when the broker is silent beyond any deadline."""
        self.lines.stream.settimeout(max(0.01, limit - time.monotonic()))
        try:
            for message in self.lines.receive():
                self.state = message.get("state", self.state)
                self.ended = message.get("ended", self.ended)
                if message["id"]:
                    self._answers[message["id"]] = message
                else:
                    self.events.append(message)
        finally:
            self.lines.stream.settimeout(None)

    def await_event(self, *names: str, deadline_s: float) -> Message:
        """The next event of one of these names; those of others are dropped. Raises gdb-late, gdb-ended."""
        limit = time.monotonic() + deadline_s
        while True:
            while self.events:
                event = self.events.pop(0)
                if event.get("event") in names:
                    return event
            if time.monotonic() > limit:
                raise late(deadline_s)
            try:
                self._read(limit)
            except EOFError:
                if time.monotonic() > limit:
                    raise late(deadline_s) from None
                self.state = "gone"
                return {"event": "ended"}

    def spooled(self) -> Iterator[Message]:
        """What the agent has written so far, whole lines only."""
        path = Path(self.folder) / "hits.jsonl"
        if path.exists():
            for line in path.read_bytes().split(b"\n"):
                with contextlib.suppress(ValueError):  # the last one, cut by a kill
                    yield json.loads(line)

    def close(self) -> None:
        """End the session: the broker leaves the target, whatever its state, and ends."""
        with contextlib.suppress(InspectorError):
            self.call("quit")
        self.lines.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def late(seconds: float) -> InspectorError:
    """The error for an answer that did not come."""
    return InspectorError(
        f"nothing happened within {seconds:g} s.",
        slug="gdb-late",
        why="no breakpoint was reached and the program did not end",
        do="give it longer, or another place",
    )


def raised(said: dict[str, str]) -> InspectorError:
    """The error that the other side said."""
    kind = _KINDS.get(said.get("kind", ""), InspectorError)
    return kind(said["what"], slug=said["slug"], why=said["why"], do=said["do"])


def python() -> str:
    """A Python of this version to run the broker; an embedding host's `sys.executable` may be none."""
    here = Path(sys.executable or "")
    if "python" in here.name and os.access(here, os.X_OK):
        return str(here)
    name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for folder in (sysconfig.get_config_var("BINDIR") or "", f"{sys.base_prefix}/bin"):
        if os.access(f"{folder}/{name}", os.X_OK):
            return f"{folder}/{name}"
    return shutil.which(name) or shutil.which("python3") or "python3"


def allow_tracer(pid: int) -> None:
    """Let `pid` and its children trace this process where Yama asks for it; 0 takes it back (prctl(2))."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PTRACER, ctypes.c_ulong(pid), 0, 0, 0)  # EINVAL: no Yama, nothing to allow


@contextlib.contextmanager
def guarded(client: Client) -> Iterator[tuple[int, int] | None]:
    """This process with the guard of native/watch/breakpoint_guard.c armed and the broker allowed to trace it."""
    from inspector import _native

    table = _native.traps_arm()
    allow_tracer(int(client.call("state")["broker"]))
    try:
        yield table
    finally:
        allow_tracer(0)
        _native.traps_disarm()
