"""The native side of an editor's session: gdb by the broker, attached when it is first needed."""

# SPDX-License-Identifier: MIT
import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from inspector.debugger.client import ATTACH_S, Client
from inspector.debugger.lines import Message
from inspector.errors import InspectorError

GUARD_S: Final = 1.0
"""Seconds for the program to arm its guard: it cannot while C code has the GIL."""
LEAVE_S: Final = 10.0
PACKAGE: Final = str(Path(__file__).resolve().parents[2] / "__init__.py")
_ANSWER_S: Final = 10.0


class NativeSide:
    """gdb on one process, at most; `pid` is 0 until the program has begun."""

    def __init__(self) -> None:
        self.pid = 0
        self.refused = ""
        """Why there is no native debugging, in one sentence."""
        self.client: Client | None = None
        self._ahead: Client | None = None

    def attach(self) -> Client:
        """Attach gdb; the process runs on. Raises InspectorError with the reason, also later."""
        if not self.pid:
            raise InspectorError("no program runs yet.", slug="gdb-ended", do="launch or attach first")
        if self.refused:
            raise InspectorError(self.refused, slug="gdb-refused", do="Python is debugged all the same")
        ahead, self._ahead = self._ahead, None
        try:
            with contextlib.suppress(InspectorError):  # what was prepared may have ended meanwhile
                self.client = _started(ahead) if ahead is not None else None
            self.client = self.client or _started(Client(self.pid))
        except InspectorError as error:
            self.refused = f"{error.what} {error.why}".strip()
            raise
        return self.client

    def prepare(self) -> None:
        """Start gdb and let it read symbols while nobody waits for it; the program does not notice."""
        if not self.pid or self.refused or self.client is not None or self._ahead is not None:
            return
        with contextlib.suppress(InspectorError, OSError):
            self._ahead = Client(self.pid)
            self._ahead.prepare()

    def call(self, word: str, **argument: Any) -> Message:
        """Carry out a request in gdb. Raises InspectorError: gdb-late, gdb-refused, gdb-ended."""
        if self.client is None:
            raise InspectorError("gdb is not attached.", slug="gdb-ended", do="set a native breakpoint")
        return self.client.call("command", _ANSWER_S, word=word, argument=argument)

    def set(self, group: str, places: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Set breakpoints in place of the group's ones; one answer for each place."""
        return list(self.call("set", group=group, places=list(places))["breakpoints"])

    def read(self) -> None:
        """Read what gdb's side has sent. Raises EOFError where the broker has ended."""
        if self.client is not None:
            self.client.heard(time.monotonic() + _ANSWER_S)

    def leave(self) -> None:
        """Remove all breakpoints and detach; the process runs on."""
        client, self.client = self.client, None
        if client is not None:
            with contextlib.suppress(InspectorError):
                client.call("leave", LEAVE_S)
            client.close()
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.close()


def _started(client: Client) -> Client:
    """Attach its gdb. Raises InspectorError with the reason."""
    try:
        client.call("start", ATTACH_S, places=[], signals=True, interactive=True, editor=True)
    except InspectorError:
        client.close()
        raise
    return client


def guard(armed: bool) -> str:
    """Python that arms or disarms the guard of native/watch/breakpoint_guard.c in the program, which then
    survives a killed gdb. Nothing happens where this very package cannot be imported there."""
    text = f"""
import importlib.util
spec = importlib.util.find_spec("inspector")
if spec is not None and spec.origin == {PACKAGE!r}:
    from inspector import _native
    _native.traps_{"arm" if armed else "disarm"}()
"""
    return quietly(text)


def quietly(text: str) -> str:
    """Python that runs `text` with names of its own, and says nothing where it fails."""
    return f"try:\n    exec({text!r}, {{}})\nexcept Exception:\n    pass"
