"""An editor for tests: it speaks the protocol with `inspector dap`, and each wait has a deadline."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import jsonschema

WAIT_S = 40.0
Message = dict[str, Any]


class Heard:
    """Every message that comes to a client, and how far it was read."""

    def __init__(self) -> None:
        self.heard: list[Message] = []
        self._seq = self._read = 0

    def wait(self, fits: Callable[[Message], bool], since: int | None = None) -> Message:
        """The next message that fits."""
        at, limit = self._read if since is None else since, time.monotonic() + WAIT_S
        while True:
            for i in range(at, len(self.heard)):
                if fits(self.heard[i]):
                    self._read = self._read if since is not None else i + 1
                    return self.heard[i]
            at = len(self.heard)
            self._receive(limit)

    def _receive(self, limit: float) -> None:
        """Append what comes to `heard`. Raises AssertionError where nothing comes until `limit`."""
        raise NotImplementedError


class Editor(Heard):
    """One session. Every message that comes is kept in `heard`."""

    def __init__(self, *adapter: str) -> None:
        command = [sys.executable, "-P", "-m", *(adapter or ("inspector", "dap"))]
        self.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        super().__init__()
        self._left = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.child.stdin is not None
        self.child.stdin.close()
        try:
            self.child.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self.child.kill()
            raise
        finally:
            for stream in (self.child.stdout, self.child.stderr):
                assert stream is not None
                stream.close()

    def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        os.write(self.child.stdin.fileno(), data)  # type: ignore[union-attr]

    def send(self, command: str, **arguments: Any) -> int:
        """Send a request; returns its number."""
        self._seq += 1
        body = json.dumps(
            {"seq": self._seq, "type": "request", "command": command, "arguments": arguments}
        ).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return self._seq

    def answered(self, number: int) -> Message:
        """The response to a request."""
        return self.wait(lambda one: one["type"] == "response" and one["request_seq"] == number, since=0)

    def ask(self, command: str, **arguments: Any) -> Message:
        """The body of a successful response."""
        found = self.answered(self.send(command, **arguments))
        assert found["success"], found
        return dict(found.get("body") or {})

    def refused(self, command: str, **arguments: Any) -> str:
        """The message of an error response."""
        found = self.answered(self.send(command, **arguments))
        assert not found["success"], found
        return str(found["message"])

    def event(self, name: str, **wanted: Any) -> Message:
        """The body of the next event of this name, with these fields; those before it are passed over."""

        def fits(one: Message) -> bool:
            body = one.get("body") or {}
            return one.get("event") == name and all(body.get(key) == value for key, value in wanted.items())

        return dict(self.wait(fits).get("body") or {})

    def _receive(self, limit: float) -> None:
        stream = self.child.stdout.fileno()  # type: ignore[union-attr]
        if not select.select([stream], [], [], max(0.0, limit - time.monotonic()))[0]:
            raise AssertionError(f"nothing came; the last: {self.heard[-8:]}")
        read = os.read(stream, 1 << 16)
        if not read:
            raise AssertionError(f"the adapter ended: {self.child.stderr.read().decode()[-2000:]}")  # type: ignore[union-attr]
        self._left += read
        while (end := self._left.find(b"\r\n\r\n")) >= 0:
            size = int(self._left[:end].rpartition(b":")[2])
            if len(self._left) < end + 4 + size:
                return
            self.heard.append(json.loads(self._left[end + 4 : end + 4 + size]))
            self._left = self._left[end + 4 + size :]

    def begun(
        self, how: str, *, source: dict[str, list[int]] = {}, functions: tuple[str, ...] = (), **given: Any
    ) -> int:
        """initialize, launch or attach, breakpoints, configurationDone; returns the number of the request."""
        self.ask("initialize", adapterID="inspector", clientID="test", pathFormat="path", linesStartAt1=True)
        number = self.send(how, **given)
        self.event("initialized")
        for path, lines in source.items():
            self.set(path, *lines)
        if functions:
            self.ask("setFunctionBreakpoints", breakpoints=[{"name": name} for name in functions])
        self.ask("configurationDone")
        assert self.answered(number)["success"]
        return number

    def set(self, path: str | Path, *lines: int) -> list[Message]:
        """Set breakpoints in a file."""
        rows = [{"line": line} for line in lines]
        return list(self.ask("setBreakpoints", source={"path": str(path)}, breakpoints=rows)["breakpoints"])

    def stack(self, thread: int) -> list[Message]:
        """The frames of a thread."""
        return list(self.ask("stackTrace", threadId=thread)["stackFrames"])

    def locals(self, frame: Message) -> dict[str, Message]:
        """The variables of a frame's first scope, by name."""
        scope = self.ask("scopes", frameId=frame["id"])["scopes"][0]
        return self.inside(scope)

    def inside(self, row: Message) -> dict[str, Message]:
        """What a scope or a variable opens to, by name."""
        rows = self.ask("variables", variablesReference=row["variablesReference"])["variables"]
        return {one["name"]: one for one in rows}


@functools.cache
def schema() -> Message:
    folder = find_spec("debugpy").submodule_search_locations[0]  # type: ignore[union-attr, index]
    return json.loads(next(Path(folder).rglob("debugProtocol.json")).read_text())  # type: ignore[no-any-return]


def conforms(message: Message) -> None:
    """Whether a message is as the protocol's published schema has it; debugpy's own events are not in it."""
    name = message.get("command") or message.get("event") or ""
    kind = (
        "ErrorResponse"
        if message.get("success") is False
        else f"{name[:1].upper()}{name[1:]}{message['type'].title()}"
    )
    if kind in schema()["definitions"]:
        jsonschema.Draft4Validator({**schema(), "$ref": f"#/definitions/{kind}"}).validate(message)
