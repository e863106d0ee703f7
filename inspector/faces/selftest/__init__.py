"""`inspector doctor --selftest`: each mechanism proved on this machine against a second method.

Each check runs in a process of its own, so that one that crashes or hangs is told and the others go on.
"""

# SPDX-License-Identifier: MIT
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Final

from inspector.facts.amounts import counted
from inspector.facts.answers import Answer, Answers
from inspector.facts.machine import Check, Machine
from inspector.report import Report

CHECKS: Final = (
    "refcount",
    "owners",
    "shares",
    "residency",
    "account",
    "lazy",
    "trace",
    "toggles",
    "leaks",
    "watchpoint",
    "pages",
    "clock",
    "attach",
    "gdb",
)
"""Names of the functions of `checks`, in the order in which they run: the cheap ones first."""
DEADLINE_S: Final = 30.0
OF_THE_FIRST: Final = 12
"""A slow machine, such as one that is emulated, has as many times what its first check took."""
WRONG, NOT_TRIED = 1, 3
"""Exit codes of a check."""
_HELP: Final = "report it with the output of `inspector doctor`: what it says of this machine may be wrong"


def selftest(progress: Callable[[str], None] | None = None, only: tuple[str, ...] = CHECKS) -> Machine:
    """Run the checks; each row says what was compared with what, or why it was not tried, and its time."""
    found: list[Check] = []
    deadline_s, began = DEADLINE_S, time.monotonic()
    for name in only:
        if progress is not None:
            progress(name)
        found.append(_ran(name, deadline_s))
        if len(found) == 1:
            deadline_s = max(DEADLINE_S, OF_THE_FIRST * (time.monotonic() - began))
    return Machine(tuple(found))


def report(machine: Machine) -> Report:
    """The checks as a screen, which begins with how many of them agree, and which do not."""
    by_state = {word: [one.part for one in machine.checks if one.state == word] for word in ("no", "part")}
    whole = len(machine.checks)
    agree = whole - sum(map(len, by_state.values()))
    wrong, untried = (", ".join(parts) for parts in by_state.values())
    text = f"{agree} of {counted(whole, 'mechanism')} agree with a second method"
    text += f"; these differ: {wrong}" if wrong else ""
    text += f"; not tried: {untried}" if untried else ""
    said = Answer("selftest", f"{text}.", True, (), ("machine.checks",), "", 0)
    return Report("doctor", {"answers": Answers((said,)), "machine": machine})


def _ran(name: str, deadline_s: float) -> Check:
    began = time.monotonic()
    command = [sys.executable, "-P", "-m", "inspector.faces.selftest", name]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=deadline_s, cwd="/")
    except subprocess.TimeoutExpired:
        return Check(name, "no", f"did not end within {deadline_s:.0f} s", _HELP)
    took = f"{time.monotonic() - began:.1f} s"
    says = ran.stdout.strip().rpartition("\n")[2] or ran.stderr.strip().rpartition("\n")[2]
    if ran.returncode < 0:
        return Check(name, "no", f"died by {signal.Signals(-ran.returncode).name}", _HELP)
    if ran.returncode == NOT_TRIED:
        return Check(name, "part", f"not tried: {says}", "")
    if ran.returncode:
        return Check(name, "no", says, _HELP)
    return Check(name, "ok", f"{says}, {took}", "")
