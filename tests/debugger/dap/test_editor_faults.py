"""Whatever happens to a part of an editor's session: an attached program runs on, whole and untraced.

Each fault comes at a random moment of a session with a breakpoint in a hot function: while its condition is
judged a thousand times a second, or while the thread stands there.
"""

# SPDX-License-Identifier: MIT
import contextlib
import os
import random
import signal
import time
from pathlib import Path

import psutil
import pytest
from dap_client import Editor
from debugged import ORPHANS_S, SOAK, until
from hotly import begun, goes_on, library, running, runs

from inspector.debugger.memory import proc

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(180)]
ROUNDS = int(os.environ.get("INSPECTOR_ROUNDS") or (100 if SOAK else 1))
"""Each of the faults so often; the table in docs/reference/debugging.md says how often it was run."""
RUNS_S = 5.0
FAULTS = [
    f"{part} {how}" for part in ("gdb", "broker", "adapter", "debugpy") for how in ("killed", "stopped")
]
FAULTS.append("front end gone")


def part(editor: Editor, program: int, which: str) -> int:
    """The process of a part of the session."""
    gdb = proc.tracer(program)
    if which == "gdb":
        return gdb
    if which == "broker":
        return psutil.Process(gdb).ppid()
    if which == "debugpy":
        own = psutil.Process(editor.child.pid).children()
        return next(one.pid for one in own if "debugpy.adapter" in one.cmdline())
    return editor.child.pid


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("standing", [False, True], ids=["running", "standing"])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_program_runs_on(tmp_path: Path, fault: str, standing: bool, round_: int) -> None:
    which, how = fault.rsplit(" ", 1)
    with running(tmp_path) as child, contextlib.suppress(BrokenPipeError), Editor() as editor:
        thread = begun(editor, child.pid, standing)
        hit = part(editor, child.pid, which)
        time.sleep(random.Random(f"{fault} {standing} {round_}").uniform(0, 0.3))
        if how == "gone":
            editor.child.stdin.close()  # type: ignore[union-attr]
        else:
            os.kill(hit, signal.SIGKILL if how == "killed" else signal.SIGSTOP)
        try:
            if fault == "debugpy stopped":  # C is debugged as before
                go_on(editor, thread)
                until(lambda: goes_on(child.pid), RUNS_S)
            else:
                until(lambda: runs(child.pid), RUNS_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(hit, signal.SIGCONT)
            editor.child.kill()


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("standing", [False, True], ids=["running", "standing"])
def test_a_program_that_is_killed_leaves_nothing(tmp_path: Path, standing: bool, round_: int) -> None:
    with running(tmp_path) as child, Editor() as editor:
        begun(editor, child.pid, standing)
        gdb, broker = (part(editor, child.pid, which) for which in ("gdb", "broker"))
        time.sleep(random.Random(f"{standing} {round_}").uniform(0, 0.3))
        child.kill()
        child.wait()
        until(lambda: not proc.alive(gdb) and not proc.alive(broker), ORPHANS_S)


def go_on(editor: Editor, thread: int) -> None:
    """Let a thread that stands go on for good; 0 for none."""
    if thread:
        editor.set(str(library().parent / "hotly.c"))
        editor.ask("continue", threadId=thread)
