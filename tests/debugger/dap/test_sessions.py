"""Sessions that do not begin at a stop of Python's: a forked child, a program that keeps the GIL in C."""

# SPDX-License-Identifier: MIT
import os
import select
from pathlib import Path

import pytest
import specimens
from dap_client import Editor
from debugged import until

from inspector.debugger.dap.adapter import Adapter
from inspector.debugger.dap.places import FIRST
from inspector.debugger.kernel.mailbox import Mailbox
from inspector.debugger.memory import proc

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(180)]
C = r"""
#include <Python.h>
static PyObject *one_more(PyObject *self, PyObject *n) {
    return PyLong_FromLong(PyLong_AsLong(n) + 1);
}
"""
FORKS = """
import os, sys
sys.path.insert(0, sys.argv[1])
import sessions_c
if not os.fork():
    sessions_c.one_more(1)
    os._exit(0)
os.wait()
"""


def library() -> Path:
    return specimens.library("sessions_c", C, flags=("-O0",))


def test_a_forked_child_is_stepped_into_c(editor: Editor, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(FORKS)
    given = {"program": str(program), "args": [str(library().parent)], "console": "internalConsole"}
    editor.begun("launch", source={str(program): [6]}, **given)
    told = editor.event("debugpyAttach")
    with Editor() as child:
        joins = {key: told[key] for key in ("connect", "subProcessId")}
        child.begun("attach", source={str(program): [6]}, **joins)
        thread = child.event("stopped")["threadId"]
        child.ask("stepIn", threadId=thread)
        child.event("stopped")
        names = [one["name"].partition(" [")[0] for one in child.stack(thread)]
        assert names == ["one_more", "[interpreter]", "<module>"]
        child.ask("continue", threadId=thread)
        child.event("terminated")
    editor.event("terminated")


def test_a_parent_that_is_gone_is_said(editor: Editor) -> None:
    editor.ask("initialize", adapterID="inspector")
    gone = {"host": "127.0.0.1", "port": 1}
    said = editor.refused("attach", connect=gone, subProcessId=os.getpid())
    assert "nobody listens" in said and "refused" in said


def test_threads_are_the_kernels_while_debugpy_does_not_answer() -> None:
    """It waits for the GIL, which C code keeps: without a thread an editor could not pause that code."""
    editor, python = Mailbox(), Mailbox()
    adapter = Adapter(editor.other, python.other)
    adapter.native.pid = os.getpid()
    editor.send({"type": "request", "seq": 1, "command": "threads", "arguments": {}})
    adapter._hear_editor()
    until(lambda: (adapter.after(), bool(select.select([editor], [], [], 0)[0]))[1], 5.0)
    (told,) = editor.receive()
    own = os.getpid()
    assert {"id": FIRST + own, "name": f"{proc.thread_name(own, own)} ({own})"} in told["body"]["threads"]
