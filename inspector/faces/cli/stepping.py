"""A conversation with a process that is stopped: a word a line, an answer to each, until it is let go."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any, Final

from inspector.errors import InspectorError
from inspector.faces.cli.output import show
from inspector.report import Report

PROMPT: Final = "(inspector) "
GOES: Final = ("step", "next", "finish", "continue")
LOOKS: Final = ("up", "down", "locals", "stack", "print", "watch")
UNGUARDED: Final = (
    "inspector: this process is without our guard (a kernel has it by %load_ext inspector): "
    "should gdb be killed, it may die of SIGTRAP"
)
_GONE: Final = "the process ended with code {}"


def converse(live: Any, seconds: float, options: argparse.Namespace) -> None:
    """Until `quit`, the end of the input, or of the process. Raises InspectorError where it never stops."""
    print(f"inspector: attached; a stop is waited for, {seconds:g} s at most", file=sys.stderr, flush=True)
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
    """Of the input, each asked for where a person types."""
    while True:
        if sys.stdin.isatty():
            print(PROMPT, end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        yield line


def _answered(live: Any, word: str, argument: str, seconds: float, options: argparse.Namespace) -> bool:
    """False where the process is no more."""
    if word == "state":
        print(_standing(live), flush=True)
        return True
    if word == "wait":
        return _shown(live, live.wait(seconds), options)
    if word not in (*GOES, *LOOKS):
        words = ", ".join((*GOES, *LOOKS, "wait", "state", "quit"))
        print(f"not a word of the debugger: {word[:40]!r}. One of {words}", flush=True)
        return True
    return _shown(live, live.command(word, argument), options)


def _shown(live: Any, answer: Any, options: argparse.Namespace) -> bool:
    if answer.stop is None:
        print(_GONE.format(answer.exit_code), flush=True)
        return False
    show(Report("stop", {"stop": answer.stop}), options)
    print(_standing(live), flush=True)
    return True


def _standing(live: Any) -> str:
    """What a stopped kernel cannot say itself."""
    if live.state != "stopped":
        return f"{live.state}: it has not stopped"
    return (
        f"stopped by you for {live.stopped_s:.1f} s: this thread stands still, so no cell runs; "
        "the heartbeat answers; quit lets it go on"
    )
