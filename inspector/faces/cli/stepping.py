"""Step a stopped process from the terminal: each input line is a command, until `quit`."""

# SPDX-License-Identifier: MIT
import argparse
import sys
from collections.abc import Iterator
from typing import Any, Final

from inspector.errors import InspectorError
from inspector.faces.cli.output import show
from inspector.sessions import running

PROMPT: Final = "(inspector) "
GOES: Final = ("step", "next", "finish", "continue")
LOOKS: Final = ("up", "down", "locals", "stack", "print", "watch")
UNGUARDED: Final = (
    "inspector: this process has no breakpoint guard (%load_ext inspector arms one in a kernel): "
    "if gdb is killed, the process may die of SIGTRAP"
)
_ENDED: Final = "the process ended with code {}"


def converse(live: Any, seconds: float, options: argparse.Namespace) -> None:
    """Run commands until `quit`, end of input or of the process. Raises InspectorError if it never stops."""
    print(f"inspector: attached; waiting for a stop, {seconds:g} s at most", file=sys.stderr, flush=True)
    if not live.guarded:
        print(UNGUARDED, file=sys.stderr, flush=True)
    if not _shown(live, live.wait(seconds), options):
        return
    for line in _lines():
        word, _, argument = line.strip().partition(" ")
        if word == "quit":
            return
        try:
            if not _answered(live, word, argument, seconds, options):
                return
        except InspectorError as error:
            if error.slug == "gdb-ended":
                raise
            print(f"{error.what} {error.why}; {error.do}", flush=True)


def _lines() -> Iterator[str]:
    """The input's lines; with a prompt where the input is a terminal."""
    while True:
        if sys.stdin.isatty():
            print(PROMPT, end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        yield line


def _answered(live: Any, word: str, argument: str, seconds: float, options: argparse.Namespace) -> bool:
    """Carry out one command; False where the process has ended."""
    if word == "state":
        print(_state_line(live), flush=True)
        return True
    if word == "wait":
        return _shown(live, live.wait(seconds), options)
    if word not in (*GOES, *LOOKS):
        words = ", ".join((*GOES, *LOOKS, "wait", "state", "quit"))
        print(f"unknown command {word[:40]!r}; use one of {words}", flush=True)
        return True
    return _shown(live, live.command(word, argument), options)


def _shown(live: Any, answer: Any, options: argparse.Namespace) -> bool:
    if answer.stop is None:
        print(_ENDED.format(answer.exit_code), flush=True)
        return False
    show(running.stopped(answer.stop), options)
    print(_state_line(live), flush=True)
    return True


def _state_line(live: Any) -> str:
    """The session's state; a stopped kernel cannot report it itself."""
    if live.state != "stopped":
        return f"{live.state}: the process has not stopped"
    return (
        f"stopped by you for {live.stopped_s:.1f} s: its thread is stopped, so no cell runs; "
        "the heartbeat answers; quit lets it continue"
    )
