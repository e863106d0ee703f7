"""gdb is started and reads symbols before it is needed; what ends meanwhile costs nothing."""

# SPDX-License-Identifier: MIT
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dap_client import Editor
from debugged import ORPHANS_S, Program, ends, until

from inspector.debugger.dap.native_side import NativeSide
from inspector.debugger.memory import proc

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(180)]
SCRIPT = "import math\nsay(ready=1)\nsys.stdin.readline()\nsay(done=1)\nsys.stdin.readline()"


@pytest.fixture
def prepared() -> Iterator[tuple[Program, NativeSide, int, int]]:
    """A program, a native side that has read its symbols, and the processes of gdb and of its broker."""
    with Program(SCRIPT) as program:
        program.said()
        side = NativeSide()
        side.pid = program.pid
        side.prepare()
        client = side._ahead
        assert client is not None
        until(lambda: client._answers or client.heard(time.monotonic() + 10.0))
        session = client.call("state")
        assert not proc.tracer(program.pid) and not proc.thread_states(program.pid) & {"T", "t"}
        yield program, side, session["pid"], session["broker"]
        side.leave()
        until(ends(session["pid"]), ORPHANS_S)
        until(ends(session["broker"]), ORPHANS_S)


def attached(side: NativeSide, program: Program) -> int:
    """The gdb that has the program, which runs."""
    side.attach()
    gdb = proc.tracer(program.pid)
    assert side.call("sources")["files"] is not None
    program.go_on()
    assert program.said() == {"done": 1}
    return gdb


def test_the_gdb_that_was_prepared_attaches(prepared: tuple[Program, NativeSide, int, int]) -> None:
    program, side, gdb, _ = prepared
    assert attached(side, program) == gdb
    side.leave()
    program.assert_whole()


@pytest.mark.parametrize("which", ["gdb", "broker"])
def test_another_takes_the_place_of_one_that_was_killed(
    prepared: tuple[Program, NativeSide, int, int], which: str
) -> None:
    program, side, gdb, broker = prepared
    os.kill(gdb if which == "gdb" else broker, signal.SIGKILL)
    until(ends(gdb), ORPHANS_S)
    assert attached(side, program) not in (0, gdb)
    side.leave()
    program.assert_whole()


def test_a_program_that_a_person_has_stopped_is_left_so(
    prepared: tuple[Program, NativeSide, int, int],
) -> None:
    program, side, gdb, _ = prepared
    os.kill(program.pid, signal.SIGSTOP)
    os.kill(gdb, signal.SIGKILL)
    until(ends(gdb), ORPHANS_S)
    side.leave()
    assert proc.thread_states(program.pid) == {"T"}
    os.kill(program.pid, signal.SIGCONT)


def test_gdb_ends_with_the_program(prepared: tuple[Program, NativeSide, int, int]) -> None:
    program, _, gdb, _ = prepared
    os.kill(program.pid, signal.SIGKILL)
    program.child.wait(ORPHANS_S)
    until(ends(gdb), ORPHANS_S)


def test_a_step_into_c_after_a_look_at_the_stop(editor: Editor, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import numpy as np\na = np.ones(3)\nnp.dot(a, a)\n")
    editor.begun("launch", program=str(program), console="internalConsole", source={str(program): [3]})
    thread = editor.event("stopped")["threadId"]
    time.sleep(1.5)
    editor.ask("stepIn", threadId=thread)
    editor.event("stopped")
    frame = editor.stack(thread)[0]
    assert frame["name"].startswith("array_matrixproduct")
    assert editor.locals(frame)["args[0]"]["value"].startswith("numpy.ndarray float64 (3,)")
    editor.ask("disconnect", terminateDebuggee=True)
