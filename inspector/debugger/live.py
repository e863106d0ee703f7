"""Step another process under gdb; its other threads keep running."""

# SPDX-License-Identifier: MIT
import contextlib
import time
from collections.abc import Sequence
from typing import Self

from inspector.debugger import stepped
from inspector.debugger.client import Client
from inspector.debugger.presets.places import asked
from inspector.errors import InspectorError

_LEAVE_S = 30.0


class Live:
    """`with Live(pid, ["mixed"]) as live: live.wait(60)`; leaving removes all breakpoints."""

    def __init__(self, pid: int, places: Sequence[str]) -> None:
        wanted = asked(places, None, (), pid)
        self._stopped_at: float | None = None
        self._client = Client(pid)
        try:
            self.guarded = stepped.begin(self._client, wanted)
        except BaseException:
            self._client.close()
            raise

    def wait(self, deadline_s: float) -> stepped.Answer:
        """The first stop, or the next one. Raises InspectorError gdb-late, gdb-ended."""
        return self.command("await", deadline_s=deadline_s)

    def command(self, word: str, argument: str = "", deadline_s: float = 30.0) -> stepped.Answer:
        """Carry out one of `stepped.COMMANDS`. Raises InspectorError: gdb-late, gdb-refused, gdb-ended."""
        if word in ("step", "next", "finish", "continue"):
            self._stopped_at = None
        answer = stepped.command(self._client, word, argument, deadline_s)
        if self._stopped_at is None and answer.stop is not None:
            self._stopped_at = time.monotonic()
        return answer

    @property
    def state(self) -> str:
        """The state by the broker, which is never stopped: "running", "stopped", "gone"."""
        return str(self._client.call("state")["state"])

    @property
    def stopped_s(self) -> float:
        """Seconds since the thread stopped; 0 while it runs."""
        return 0.0 if self._stopped_at is None else time.monotonic() - self._stopped_at

    def close(self) -> None:
        """Remove the breakpoints, and continue the process."""
        with contextlib.suppress(InspectorError):
            self._client.call("leave", _LEAVE_S)
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self.close()
