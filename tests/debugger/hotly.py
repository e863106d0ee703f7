"""A program that calls one function of C a thousand times a second, and a session with a breakpoint there."""

# SPDX-License-Identifier: MIT
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import specimens
from dap_client import Editor

from inspector.debugger import healing
from inspector.debugger.memory import proc

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
