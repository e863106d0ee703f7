"""Run one command of `inspector` in a process of its own, with a deadline, for its text."""

# SPDX-License-Identifier: MIT
import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from typing import Final, NamedTuple

MOST_CHARACTERS: Final = 20_000
"""Longest text of one answer; a program's own output, which comes first, is cut."""

RUN_PROGRAMS: Final = ("trace", "leaks")
"""Commands that report also of a program that failed, and then end with 1 as it did."""


class Said(NamedTuple):
    """How a command ended."""

    text: str
    refused: bool
    """True where it says what is wrong instead of what was asked."""


async def ask(words: list[str], seconds: float) -> Said:
    """What `inspector WORDS` prints. After `seconds`, or when cancelled, all its processes are killed."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "inspector",
        *words,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        start_new_session=True,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "100"},
    )
    try:
        out, wrong = await asyncio.wait_for(child.communicate(), seconds)
    except TimeoutError:
        return Said(f"stopped after {seconds:g} s, before it ended; give more seconds.", True)
    finally:
        _end(child)
    text, complaint = out.decode(errors="replace"), wrong.decode(errors="replace")
    refused = child.returncode not in ((0, 1) if words[0] in RUN_PROGRAMS else (0,))
    return Said(_cut(complaint + text if refused else text + complaint), refused)


def _end(child: Process) -> None:
    """Kill what is left of the command and of the programs that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _cut(text: str) -> str:
    """The end of the text, where the report is."""
    left_out = len(text) - MOST_CHARACTERS
    return text if left_out <= 0 else f"({left_out:,} characters before this are left out)\n{text[left_out:]}"
