"""An attached program that blocks in C is paused at once; debugpy joins when it runs."""

# SPDX-License-Identifier: MIT
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import specimens
from dap_client import Editor, Message
from debugged import until

from inspector.debugger.memory import proc

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(180)]

C = r"""
#include <Python.h>
#include <unistd.h>
static PyObject *hold(PyObject *self, PyObject *tenths) {
    for (long i = 0; i < PyLong_AsLong(tenths); i++)
        usleep(100000);
    Py_RETURN_NONE;
}
"""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import held
def work(n):
    held.hold(5)
    return n + 1  # here
print("begun", flush=True)
n = 0
held.hold(int(sys.argv[2]))
while True:
    n = work(n)
"""
HERE = 7
SOON_S = 15.0
"""debugpy's own attach takes 2 s, on a busy machine several."""


@contextlib.contextmanager
def running(*command: str) -> Iterator[int]:
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == b"begun\n"
            yield child.pid
        finally:
            child.kill()


@contextlib.contextmanager
def holding(tmp_path: Path, tenths: int) -> Iterator[tuple[int, str]]:
    """A program whose only thread keeps the GIL in C for so long, and then for half a second at a time."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    library = specimens.library("held", C, flags=("-O0",))
    with running(sys.executable, "-P", str(program), str(library.parent), str(tenths)) as pid:
        yield pid, str(program)


def paused(editor: Editor, pid: int, **given: Any) -> tuple[int, list[Message]]:
    editor.begun("attach", processId=pid, **given)
    editor.ask("pause", threadId=editor.ask("threads")["threads"][0]["id"])
    thread = editor.event("stopped", reason="pause")["threadId"]
    return thread, editor.stack(thread)


def names(stack: list[Message]) -> list[str]:
    return [frame["name"].partition(" [")[0] for frame in stack]


def test_a_thread_that_keeps_the_gil_is_paused_at_once(editor: Editor, tmp_path: Path) -> None:
    with holding(tmp_path, 10_000) as (pid, _):
        _, stack = paused(editor, pid)
        assert names(stack)[-1] == "<module>" and "hold" in names(stack)
        module = stack[-1]
        assert editor.locals(module)["n"]["value"] == "0"
        assert editor.ask("evaluate", expression="n + 2", frameId=module["id"])["result"] == "2"
        assert proc.tracer(pid) and not any(one.get("event") == "process" for one in editor.heard)
        editor.ask("disconnect")
        until(lambda: not proc.tracer(pid), 5.0)
        assert proc.alive(pid)


def test_debugpy_joins_when_the_program_goes_on(editor: Editor, tmp_path: Path) -> None:
    with holding(tmp_path, 0) as (pid, program):
        thread, _ = paused(editor, pid)
        assert "joined" in editor.set(program, HERE)[0]["message"]
        assert "let it go on" in editor.refused("evaluate", expression="1")
        editor.ask("continue", threadId=thread)
        thread = editor.event("stopped", reason="breakpoint")["threadId"]
        assert [one["name"] for one in editor.ask("threads")["threads"]] == ["MainThread"]
        top = editor.stack(thread)[0]
        assert (top["name"], top["line"]) == ("work", HERE)
        changed = [one["body"]["breakpoint"] for one in editor.heard if one.get("event") == "breakpoint"]
        assert any(one["verified"] and one["line"] == HERE for one in changed)


def test_breakpoints_in_python_let_debugpy_join_first(editor: Editor, tmp_path: Path) -> None:
    with holding(tmp_path, 0) as (pid, program):
        editor.begun("attach", processId=pid, source={program: [HERE]})
        assert names(editor.stack(editor.event("stopped")["threadId"]))[0] == "work"


@pytest.mark.parametrize("standing", [False, True], ids=["running", "standing"])
def test_a_program_that_ends_before_ends_the_session(editor: Editor, tmp_path: Path, standing: bool) -> None:
    with holding(tmp_path, 10_000) as (pid, _):
        if standing:
            paused(editor, pid)
        else:
            editor.begun("attach", processId=pid)
        os.kill(pid, signal.SIGKILL)
        editor.event("terminated")


def test_a_program_without_python_is_debugged_all_the_same(editor: Editor) -> None:
    with running("/bin/sh", "-c", "echo begun; exec sleep 1000") as pid:
        until(lambda: proc.program(pid).endswith("sleep"), SOON_S)
        begin = time.monotonic()
        thread, stack = paused(editor, pid)
        assert any("sleep" in name for name in names(stack)) and time.monotonic() - begin < SOON_S
        editor.ask("continue", threadId=thread)
        said = editor.event("output", category="console")
        assert said["output"].startswith("Python is not debugged: ")
        assert proc.alive(pid)
