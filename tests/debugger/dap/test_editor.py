"""An editor debugs Python and C in one session: real debugpy, real gdb, a small client of the protocol."""

# SPDX-License-Identifier: MIT
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import specimens
from dap_client import Editor, Message
from debugged import until

from inspector.debugger import healing
from inspector.debugger.memory import proc

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(180)]

C = r"""
#include <Python.h>
typedef struct { int x, y; double w; } pair;
__attribute__((noinline)) long inner(long n, pair *p) {
    long m = n * 2;
    p->x = (int)m; /* inner */
    return m + p->y;
}
static PyObject *twice(PyObject *self, PyObject *seq) {
    pair p = {1, 2, 3.5};
    PyObject **slot = &seq;
    long got = inner(PyList_Size(*slot), &p); /* twice */
    return PyLong_FromLong(got);
}
#pragma GCC push_options
#pragma GCC optimize("O2")
static PyObject *checked(PyObject *self, PyObject *const *values, Py_ssize_t count) {
    if (count != 1)
        return PyErr_Format(PyExc_TypeError, "%zd arguments", count);
    return PyLong_FromSsize_t(PyList_GET_SIZE(values[0]));
}
#pragma GCC pop_options
static PyObject *spin(PyObject *self, PyObject *unused) {
    for (volatile long i = 0; i >= 0; i++) {}
    Py_RETURN_NONE;
}
"""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import dapped
def work(items):
    a = np.arange(3.0)
    got = dapped.twice(items)
    dot = np.dot(a, a)
    return got + dot
def forever():
    while True:
        dapped.twice([])
if "forever" in sys.argv:
    print("begun", flush=True)
    forever()
if "spin" in sys.argv:
    print("begun", flush=True)
    dapped.spin()
if "thread" in sys.argv:
    import threading
    worker = threading.Thread(target=dapped.twice, args=([],), name="worker")
    worker.start()
    worker.join()
work([1, 2, 3])
"""
CALL, DOT = 8, 9


def module() -> Path:
    return specimens.library("dapped", C, flags=("-O0",))


def source() -> str:
    return str(module().parent / "dapped.c")


def line(mark: str) -> int:
    return next(n for n, text in enumerate(C.splitlines(), 1) if f"/* {mark} */" in text)


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return str(path)


def launched(editor: Editor, program: str, *words: str, **places: Any) -> None:
    arguments = [str(module().parent), *words]
    editor.begun("launch", program=program, args=arguments, console="internalConsole", **places)


def stops(editor: Editor, step: str, thread: int) -> tuple[Message, list[Message]]:
    """One step: the stop and its stack."""
    editor.ask(step, threadId=thread)
    stop = editor.event("stopped")
    return stop, editor.stack(stop["threadId"])


def names(stack: list[Message]) -> list[tuple[str, int]]:
    return [(frame["name"].partition(" [")[0], frame["line"]) for frame in stack]


@pytest.mark.quick
def test_one_stack_of_both_languages_and_their_variables(editor: Editor, program: str) -> None:
    launched(editor, program, source={program: [CALL], source(): [line("inner")]})
    thread = editor.event("stopped", reason="breakpoint")["threadId"]
    assert names(editor.stack(thread))[0] == ("work", CALL)
    _, stack = stops(editor, "continue", thread)
    work = [("inner", line("inner")), ("twice", line("twice")), ("[interpreter]", 0), ("work", CALL)]
    assert names(stack)[:-1] == work and stack[2]["presentationHint"] == "subtle"
    assert editor.locals(stack[0])["m"]["value"] == "6"
    assert editor.inside(editor.locals(stack[0])["p"])["w"]["value"] == "3.5"
    seq = editor.locals(stack[1])["seq"]
    assert seq["value"] == "list [1, 2, 3]" and editor.inside(seq)["[2]"]["value"] == "3"
    slot = editor.inside(editor.locals(stack[1])["slot"])
    assert slot["*"]["value"] == "list [1, 2, 3]"
    array = editor.locals(stack[3])["a"]
    assert (
        array["value"] == "float64 (3,) 0.0, 1.0, 2.0" and editor.inside(array)["strides"]["value"] == "(8,)"
    )
    assert editor.ask("evaluate", expression="n + p->y", frameId=stack[0]["id"])["result"] == "5"
    assert editor.ask("evaluate", expression="items[1]", frameId=stack[3]["id"])["result"] == "2"
    for asked, result in (
        ("len(items) + items[1] * 2", "7"),
        ("items[0] - 3 < -1", "True"),
        ("len(__name__)", "8"),
        ("a[2]", "2.0"),
        ("a[-2] * 2 + len(a)", "5.0"),
    ):
        assert editor.ask("evaluate", expression=asked, frameId=stack[3]["id"])["result"] == result
    for asked in ("items.clear()", "a + 1", "1 +", "2 ** 9", "items[0] / 0", "a[3]", "a[-4]", "a[0, 0]"):
        assert "is not computed here" in editor.refused("evaluate", expression=asked, frameId=stack[3]["id"])
    assert "has 3 items" in editor.refused("evaluate", expression="items[7]", frameId=stack[3]["id"])
    of_protocol(editor, stack)
    assert names(stops(editor, "next", thread)[1])[0] == ("inner", line("inner") + 1)
    assert names(stops(editor, "stepOut", thread)[1])[0] == ("twice", line("twice"))
    assert names(stops(editor, "stepOut", thread)[1])[0] == ("work", CALL)
    stop, stack = stops(editor, "next", thread)
    assert (stop["reason"], names(stack)[0]) == ("step", ("work", DOT))
    editor.ask("continue", threadId=thread)
    editor.event("exited", exitCode=0)


def of_protocol(editor: Editor, stack: list[Message]) -> None:
    """At a stop in C: a scalar is set and set back, names complete, instructions are read."""
    scope = editor.ask("scopes", frameId=stack[0]["id"])["scopes"][0]["variablesReference"]
    for value, now in (("n * 50", "150"), ("6", "6")):
        told = editor.ask("setVariable", variablesReference=scope, name="m", value=value)
        assert told["value"] == now == editor.locals(stack[0])["m"]["value"]
    inside = editor.locals(stack[0])["p"]["variablesReference"]
    assert editor.ask("setVariable", variablesReference=inside, name="w", value="7.25")["value"] == "7.25"
    editor.ask("setVariable", variablesReference=inside, name="w", value="3.5")
    of_c = editor.ask("scopes", frameId=stack[1]["id"])["scopes"][0]["variablesReference"]
    assert "numbers" in editor.refused("setVariable", variablesReference=of_c, name="seq", value="0")
    python = editor.ask("scopes", frameId=stack[3]["id"])["scopes"][0]["variablesReference"]
    assert "in Python" in editor.refused("setVariable", variablesReference=python, name="a", value="0")
    for frame, begin, name in ((stack[0], "p->y + m", "m"), (stack[3], "ite", "items")):
        ask = {"frameId": frame["id"], "text": begin, "column": len(begin) + 1}
        assert name in [one["label"] for one in editor.ask("completions", **ask)["targets"]]
    here = {"memoryReference": stack[0]["instructionPointerReference"], "instructionCount": 8}
    rows = editor.ask("disassemble", instructionOffset=-3, **here)["instructions"]
    assert len(rows) == 8 and rows[3]["address"] == here["memoryReference"]
    assert rows[3]["line"] == line("inner") and rows[3]["location"]["path"] == source()


def test_step_into_what_the_line_calls(editor: Editor, program: str) -> None:
    """Into C with lines, and with symbols only; Continue gives up what is left of the step."""
    launched(editor, program, source={program: [CALL]})
    thread = editor.event("stopped")["threadId"]
    stop, stack = stops(editor, "stepIn", thread)
    assert (stop["reason"], names(stack)[0][0]) == ("step", "twice")
    assert editor.locals(stack[0])["seq"]["value"] == "list [1, 2, 3]"
    assert names(stops(editor, "stepOut", thread)[1])[0] == ("work", CALL)
    assert names(stops(editor, "next", thread)[1])[0] == ("work", DOT)
    _, stack = stops(editor, "stepIn", thread)
    assert [name for name, _ in names(stack)][-2:] == ["work", "<module>"]
    assert editor.locals(stack[0])["args[0]"]["value"] == "numpy.ndarray float64 (3,) 0.0, 1.0, 2.0"
    editor.ask("continue", threadId=thread)
    editor.event("exited", exitCode=0)
    assert sum(one.get("event") == "stopped" for one in editor.heard) == 5


def test_step_into_an_optimised_function_that_branches_at_once(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "short.py"
    path.write_text(
        "import sys\nsys.path.insert(0, sys.argv[1])\nimport dapped\ndapped.checked([1])\nprint(1)\n"
    )
    launched(editor, str(path), source={str(path): [4]})
    _, stack = stops(editor, "stepIn", editor.event("stopped")["threadId"])
    assert names(stack)[0][0] == "checked" and editor.locals(stack[0])["count"]["value"] == "1"
    editor.ask("disconnect", terminateDebuggee=True)


def test_functions_are_found_by_name(editor: Editor, program: str) -> None:
    found = ("numpy.dot", "dapped.so!inner", "PyArray_NoSuch", "nosuch.f")
    launched(editor, program, functions=found)
    stop = editor.event("stopped")
    assert names(editor.stack(stop["threadId"]))[0][0] == "inner"
    stop, stack = stops(editor, "continue", stop["threadId"])
    assert editor.locals(stack[0])["args[1]"]["value"] == "numpy.ndarray float64 (3,) 0.0, 1.0, 2.0"
    told = {
        one["body"]["breakpoint"]["id"]: one["body"]["breakpoint"]
        for one in editor.heard
        if one.get("event") == "breakpoint"
    }
    assert [row["verified"] for _, row in sorted(told.items())] == [True, True, False, False]
    assert "no loaded library of nosuch has f" in told[max(told)]["message"]
    editor.ask("disconnect", terminateDebuggee=True)


def test_a_thread_that_hangs_in_c_is_paused_there(editor: Editor, program: str) -> None:
    launched(editor, program, "spin")
    thread = editor.event("thread", reason="started")["threadId"]
    editor.event("output", category="stdout")
    assert [one["id"] for one in editor.ask("threads")["threads"]] == [thread]  # debugpy cannot answer
    stop, stack = stops(editor, "pause", thread)
    assert (stop["reason"], stop["threadId"]) == ("pause", thread)
    assert [name for name, _ in names(stack)] == ["spin", "[interpreter]", "<module>"]
    editor.ask("disconnect", terminateDebuggee=True)
    pid = next(one["body"]["systemProcessId"] for one in editor.heard if one.get("event") == "process")
    until(lambda: not proc.alive(pid), 20.0)


def test_a_thread_has_its_name_in_c_too(editor: Editor, program: str) -> None:
    launched(editor, program, "thread", source={source(): [line("inner")]})
    thread = editor.event("stopped")["threadId"]
    named = {one["id"]: one["name"] for one in editor.ask("threads")["threads"]}
    assert named[thread].startswith("worker") and "MainThread" in named.values()
    editor.ask("continue", threadId=thread)
    assert named[editor.event("stopped")["threadId"]] == "MainThread"
    editor.ask("disconnect", terminateDebuggee=True)


def attached(editor: Editor, program: str) -> subprocess.Popen[str]:
    """A program that calls C for ever, stopped there."""
    command = [sys.executable, "-P", program, str(module().parent), "forever"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "begun\n"
    editor.begun("attach", processId=child.pid, source={source(): [line("inner")]})
    stop = editor.event("stopped")
    assert [name for name, _ in names(editor.stack(stop["threadId"]))][-2:] == ["forever", "<module>"]
    return child


def left(pid: int) -> Callable[[], bool]:
    """Whether a process runs, untraced, and its code is as its files have it."""

    def runs() -> bool:
        free = not proc.tracer(pid) and proc.alive(pid) and not proc.thread_states(pid) & {"T", "t"}
        return free and not healing.differences(pid)

    return runs


@pytest.mark.parametrize("how", ["disconnect", "kill the adapter", "kill gdb"])
def test_an_attached_program_runs_on(editor: Editor, program: str, how: str) -> None:
    with attached(editor, program) as child:
        try:
            if how == "disconnect":
                editor.ask("disconnect")
            elif how == "kill gdb":
                os.kill(proc.tracer(child.pid), signal.SIGKILL)
                editor.event("continued")
                assert "gdb is gone" in editor.set(source(), line("inner"))[0]["message"]
            else:
                os.kill(editor.child.pid, signal.SIGKILL)
            until(left(child.pid), 5.0)
            before = ticks(child.pid)
            until(lambda: ticks(child.pid) > before, 5.0)
        finally:
            child.kill()


def ticks(pid: int) -> int:
    """Processor time that a process has used."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


@pytest.mark.quick
def test_what_is_no_message_is_refused_and_the_session_goes_on(editor: Editor, program: str) -> None:
    for wrong in (
        b"{",
        b"[]",
        b'{"type": "request"}',
        b'{"type": "request", "seq": 1, "command": "x", "arguments": 3}',
    ):
        editor.raw(b"Content-Length: %d\r\n\r\n%s" % (len(wrong), wrong))
        assert "not a message" in editor.wait(lambda one: one.get("success") is False)["message"]
    editor.raw(b"Content-Length: x\r\n\r\n")
    assert "Content-Length" in editor.wait(lambda one: one.get("success") is False)["message"]
    for command in ("stackTrace", "next", "configurationDone", "variables", "setBreakpoints", "nosuch"):
        assert editor.refused(command)
    assert "bad arguments" in editor.refused("setFunctionBreakpoints")
    launched(editor, program, source={source(): [line("inner"), 9000]})
    thread = editor.event("stopped")["threadId"]
    assert editor.refused("scopes", frameId=1_999_999_999)
    assert editor.refused("variables", variablesReference=1_999_999_999)
    assert "No symbol" in editor.refused(
        "evaluate", expression="nosuch", frameId=editor.stack(thread)[0]["id"]
    )
    editor.ask("disconnect", terminateDebuggee=True)


def test_without_debugpy_one_sentence_says_so() -> None:
    begin = "import sys; sys.modules['debugpy'] = None; from inspector.faces.cli import main; "
    begin += "sys.exit(main(['dap']))"
    body = b'{"seq": 1, "type": "request", "command": "initialize", "arguments": {}}'
    asked = b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    done = subprocess.run([sys.executable, "-P", "-c", begin], input=asked, capture_output=True, timeout=60)
    assert b"pip install 'native-inspector[debug]'" in done.stdout and done.returncode == 2
    assert b"debugpy, which is not installed" in done.stderr
