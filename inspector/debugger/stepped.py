"""Step a process under gdb: each of COMMANDS returns the new stop."""

# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from typing import Final, NamedTuple

from inspector.debugger.client import ATTACH_S, Client
from inspector.debugger.presets.places import Asked
from inspector.facts.stack import Stop
from inspector.facts.wire import from_wire

COMMANDS: Final = ("step", "next", "finish", "continue", "up", "down", "print", "watch", "locals", "stack")


class Answer(NamedTuple):
    """A command's result: a stop, or the exit code of the ended process; and the process's output."""

    stop: Stop | None
    exit_code: int | None
    output: str


def begin(client: Client, places: Sequence[Asked]) -> bool:
    """Attach, set breakpoints, continue; the process then stops at the places and at crashes.

    True where the process has the guard of native/watch/breakpoint_guard.c, and so survives a killed gdb.
    """
    wanted = [place._asdict() for place in places]
    started = client.call("start", ATTACH_S, places=wanted, signals=True, interactive=True)
    return bool(started["guarded"])


def command(client: Client, word: str, argument: str, deadline_s: float) -> Answer:
    """Carry out one of COMMANDS, or "await". Raises InspectorError: gdb-late, gdb-refused, gdb-ended."""
    said = client.call("command", deadline_s, word=word, argument=argument)
    if "exited" in said:
        return Answer(None, int(said["exited"]), "")
    return Answer(from_wire(Stop, said["stop"]), None, "")
