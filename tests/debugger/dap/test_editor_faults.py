"""Whatever happens to a part of an editor's session: an attached program runs on, whole and untraced.

Each fault comes at a random moment of a session with a breakpoint in a hot function: while its condition is
judged a thousand times a second, or while the thread stands there.
"""

# SPDX-License-Identifier: MIT
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import specimens
from dap_client import Editor
from debugged import ORPHANS_S, SOAK, until

from inspector.debugger import healing
from inspector.debugger.memory import proc

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(180)]
ROUNDS = int(os.environ.get("INSPECTOR_ROUNDS") or (100 if SOAK else 1))
"""Each of the faults so often; the table in docs/reference/debugging.md says how often it was run."""
RUNS_S = 5.0
C = r"""
#include <Python.h>
static PyObject *hot(PyObject *self, PyObject *n) {
    long i = PyLong_AsLong(n); /* here */
    return PyLong_FromLong(i + 1);
}
"""
PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
import hotly
print("begun", flush=True)
i = 0
while True:
    i = hotly.hot(i)
    time.sleep(0.001)
"""
LINE = next(n for n, text in enumerate(C.splitlines(), 1) if "/* here */" in text)
FAULTS = [
    f"{part} {how}" for part in ("gdb", "broker", "adapter", "debugpy") for how in ("killed", "stopped")
]
FAULTS.append("front end gone")


def library() -> Path:
    return specimens.library("hotly", C, flags=("-O0",))


@contextlib.contextmanager
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-P", str(program), str(library().parent)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None and child.stdout.readline() == "begun\n"
        yield child
    finally:
        child.kill()
        child.wait()
        child.stdout.close()  # type: ignore[union-attr]


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


def runs(pid: int) -> bool:
    """Whether a process goes on, untraced, its code as its files have it."""
    free = not proc.tracer(pid) and not proc.thread_states(pid) & {"T", "t"}
    return free and not healing.differences(pid) and goes_on(pid)


def goes_on(pid: int) -> bool:
    """Whether a process comes to its next sleep."""

    def switches() -> int:
        return int(psutil.Process(pid).num_ctx_switches().voluntary)

    before = switches()
    time.sleep(0.05)
    return switches() > before


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


def begun(editor: Editor, pid: int, standing: bool) -> int:
    """A session with a breakpoint in the hot function; the thread that stands there, 0 where none does."""
    editor.ask("initialize", adapterID="inspector", clientID="test", pathFormat="path", linesStartAt1=True)
    number = editor.send("attach", processId=pid)
    editor.event("initialized")
    row = {"line": LINE, **({} if standing else {"condition": "n == 0"})}
    editor.ask("setBreakpoints", source={"path": str(library().parent / "hotly.c")}, breakpoints=[row])
    editor.ask("configurationDone")
    assert editor.answered(number)["success"]
    if standing:
        return int(editor.event("stopped")["threadId"])
    editor.wait(lambda one: one.get("event") == "breakpoint" and one["body"]["breakpoint"]["verified"])
    return 0
