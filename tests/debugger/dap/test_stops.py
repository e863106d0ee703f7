"""Stops that are no breakpoint of a line, and requests that Python cannot answer while C stands."""

# SPDX-License-Identifier: MIT
import re
from pathlib import Path
from typing import Any

import pytest
import specimens
from dap_client import Editor, Message

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(180)]

CPP = r"""
#include <Python.h>
#undef NDEBUG
#include <assert.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <vector>
static long add(long n) {
    return n + 3; /* add */
}
static PyObject *failing(PyObject *self, PyObject *arg) {
    std::string word = "said";
    std::vector<long> some = {7, 8, 9};
    long n = add(1); /* calls add */
    try {
        throw std::runtime_error("boom"); /* throw */
    } catch (std::exception &error) {
        PyErr_SetString(PyExc_ValueError, error.what()); /* catch */
        return NULL;
    }
}
static PyObject *crash(PyObject *self, PyObject *arg) {
    volatile long *nowhere = (long *)8;
    *nowhere = 3; /* crash */
    Py_RETURN_NONE;
}
static PyObject *dies(PyObject *self, PyObject *how) {
    long n = PyLong_AsLong(how);
    volatile long *freed = (long *)0x4141414141414141;
    if (n == 0)
        *freed = 3; /* dies */
    assert(n != 1);
    if (n == 4)
        ((void (*)(void))8)();
    kill(getpid(), SIGSEGV);
    Py_RETURN_NONE;
}
"""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import failing_calls
try:
    failing_calls.failing(1)
except ValueError:
    pass
failing_calls.crash(1)
"""
CALL = 6


def module() -> Path:
    text = specimens.completed("failing_calls", CPP)
    command = ("g++", "-g", "-O0", "-std=c++17", "-shared", "-fPIC", "-w")
    return specimens.compiled(command, "failing_calls", (text,), ".cpp")


def source() -> str:
    return str(module().parent / "failing_calls.cpp")


def line(mark: str) -> int:
    return next(n for n, text in enumerate(CPP.splitlines(), 1) if f"/* {mark} */" in text)


def launched(
    editor: Editor, folder: Path, *rows: dict[str, Any], filters: tuple[str, ...] = (), text: str = PROGRAM
) -> str:
    """A launched program with breakpoints in C++ and these filters of exceptions."""
    program = folder / "program.py"
    program.write_text(text)
    editor.ask("initialize", adapterID="inspector", clientID="test", pathFormat="path", linesStartAt1=True)
    number = editor.send(
        "launch", program=str(program), args=[str(module().parent)], console="internalConsole"
    )
    editor.event("initialized")
    if rows:
        editor.ask("setBreakpoints", source={"path": source()}, breakpoints=rows)
    editor.ask("setExceptionBreakpoints", filters=filters)
    editor.ask("configurationDone")
    assert editor.answered(number)["success"]
    return str(program)


def at(editor: Editor, stop: Message, row: int = 0) -> tuple[str, int]:
    frame = editor.stack(stop["threadId"])[row]
    return frame["name"].partition(" [")[0], frame["line"]


def go(editor: Editor, how: str, stop: Message) -> Message:
    editor.ask(how, threadId=stop["threadId"])
    return editor.event("stopped")


@pytest.mark.quick
def test_a_throw_of_cpp_is_a_stop_and_a_step_goes_to_its_catch(editor: Editor, tmp_path: Path) -> None:
    launched(editor, tmp_path, filters=("cpp_thrown",))
    stop = editor.event("stopped")
    assert (stop["reason"], stop["text"]) == ("exception", "std::runtime_error: boom")
    assert at(editor, stop, 1) == ("failing", line("throw"))
    told = editor.ask("exceptionInfo", threadId=stop["threadId"])
    assert told["exceptionId"] == "std::runtime_error" and told["breakMode"] == "always"
    stop = go(editor, "next", stop)
    assert stop["reason"] == "step" and at(editor, stop) == ("failing", line("catch") - 1)
    editor.ask("setExceptionBreakpoints", filters=[])
    stop = go(editor, "continue", stop)
    assert stop["text"] == "SIGSEGV at address 0x8" and at(editor, stop) == ("crash", line("crash"))
    assert editor.ask("exceptionInfo", threadId=stop["threadId"])["exceptionId"] == "SIGSEGV"
    editor.ask("disconnect", terminateDebuggee=True)


DIES = PROGRAM.partition("try:")[0] + "failing_calls.dies({})\n"


@pytest.mark.parametrize(
    ("how", "said", "frame"),
    [
        (0, r"SIGSEGV: a pointer that cannot be one, or .*", "dies"),  # the system tells address 0
        (1, r"SIGABRT: .*failing_calls.cpp:\d+: .*Assertion `n != 1' failed.", ""),
        (2, r"SIGSEGV: process \d+ sent it", ""),
    ],
)
def test_a_crash_says_what_is_known_of_it(
    editor: Editor, tmp_path: Path, how: int, said: str, frame: str
) -> None:
    launched(editor, tmp_path, filters=("crashes",), text=DIES.format(how))
    stop = editor.event("stopped")
    assert stop["reason"] == "exception" and re.fullmatch(said, stop["text"])
    assert not frame or at(editor, stop) == (frame, line(frame))
    told = editor.ask("exceptionInfo", threadId=stop["threadId"])
    assert told["exceptionId"] == said[:7] and told["description"] == stop["text"]
    editor.ask("continue", threadId=stop["threadId"])
    assert editor.event("exited")["exitCode"] in (245, 250)
    assert not console(editor)


def test_a_step_from_where_no_function_is_says_so(editor: Editor, tmp_path: Path) -> None:
    launched(editor, tmp_path, filters=("crashes",), text=DIES.format(4))
    thread = editor.event("stopped")["threadId"]
    for command in ("next", "stepIn"):
        assert "no known function" in editor.refused(command, threadId=thread)
    editor.ask("disconnect", terminateDebuggee=True)


@pytest.mark.parametrize(("text", "names"), [(DIES.format(0), ["SIGSEGV"]), ("raise SystemExit(3)\n", [])])
def test_a_crash_that_nobody_watched_names_the_filter(
    editor: Editor, tmp_path: Path, text: str, names: list[str]
) -> None:
    launched(editor, tmp_path, text=text)
    editor.event("terminated")
    assert re.findall("as after (SIG[A-Z]+).*Crashes", console(editor)) == names


def console(editor: Editor) -> str:
    """What the adapter has said."""
    said = [one["body"] for one in editor.heard if one.get("event") == "output"]
    return "".join(one["output"] for one in said if one.get("category") == "console")


def test_every_request_is_answered_while_c_stands(editor: Editor, tmp_path: Path) -> None:
    launched(editor, tmp_path, {"line": line("add")})
    thread = editor.event("stopped")["threadId"]
    frame = editor.stack(thread)[0]
    assert "no exception" in editor.refused("exceptionInfo", threadId=thread)
    for command in ("modules", "gotoTargets"):
        assert "goes on" in editor.refused(command, source={"path": source()}, line=1)
    assert "not known" in editor.refused("restart")
    assert "static long add" in editor.ask("source", source={"path": source()}, sourceReference=0)["content"]
    assert source() in [one["path"] for one in editor.ask("loadedSources")["sources"]]
    assert editor.ask("setExpression", frameId=frame["id"], expression="n", value="n + 6")["value"] == "7"
    said = editor.refused("evaluate", frameId=frame["id"], expression="nosuch")
    assert said == 'No symbol "nosuch" in current context.'
    editor.ask("disconnect", terminateDebuggee=True)


def test_strings_and_containers_of_cpp_show_their_contents(editor: Editor, tmp_path: Path) -> None:
    launched(editor, tmp_path, {"line": line("calls add")})
    rows = editor.locals(editor.stack(editor.event("stopped")["threadId"])[0])
    assert rows["word"]["value"] == '"said"'
    assert "length 3" in rows["some"]["value"] and editor.inside(rows["some"])["[1]"]["value"] == "8"
    editor.ask("disconnect", terminateDebuggee=True)


def test_python_files_and_requests_of_no_one_before_gdb(editor: Editor, tmp_path: Path) -> None:
    """debugpy says nothing to a request that it does not know: an editor would wait for ever."""
    program = tmp_path / "program.py"
    program.write_text("x = 1\nprint(x)\n")
    editor.begun("launch", program=str(program), console="internalConsole", source={str(program): [2]})
    editor.event("stopped")
    assert "not known" in editor.refused("readMemory", memoryReference="0x0", count=1)
    editor.ask("stackTrace", threadId=editor.ask("threads")["threads"][0]["id"])
    assert str(program) in [one["path"] for one in editor.ask("loadedSources")["sources"]]
    editor.ask("disconnect", terminateDebuggee=True)


def test_a_condition_that_fails_is_told_and_stops(editor: Editor, tmp_path: Path) -> None:
    launched(editor, tmp_path, {"line": line("add"), "condition": "nosuch > 3"})
    said = editor.event("output", category="console")["output"]
    stop = editor.event("stopped", reason="breakpoint")
    assert at(editor, stop) == ("add", line("add"))
    assert said.startswith('the condition cannot be evaluated: No symbol "nosuch"')
    assert f"failing_calls.cpp:{line('add')})" in said
    editor.ask("disconnect", terminateDebuggee=True)


def test_a_step_that_ends_at_a_log_message_is_a_step(editor: Editor, tmp_path: Path) -> None:
    rows = {"line": line("calls add")}, {"line": line("add"), "logMessage": "n is {n}"}
    launched(editor, tmp_path, *rows)
    stop = go(editor, "stepIn", editor.event("stopped"))
    assert (stop["reason"], at(editor, stop)[0]) == ("step", "add") and "hitBreakpointIds" not in stop
    assert any(one.get("event") == "output" and one["body"]["output"] == "n is 1\n" for one in editor.heard)
    editor.ask("disconnect", terminateDebuggee=True)


TWICE = """
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
block = ctypes.c_void_p(libc.malloc(40))
libc.free(block), libc.free(block)
"""


def test_an_abort_says_what_glibc_found(editor: Editor, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(TWICE)
    editor.begun("launch", program=str(program), console="internalConsole", functions=("nowhere_at_all",))
    stop = editor.event("stopped", reason="exception")
    assert stop["text"].startswith("SIGABRT: free(): double free detected"), stop
    assert editor.ask("exceptionInfo", threadId=stop["threadId"])["exceptionId"] == "SIGABRT"
    editor.ask("continue", threadId=stop["threadId"])
    editor.event("terminated")


def test_python_that_cannot_answer_keeps_nobody_waiting(editor: Editor, tmp_path: Path) -> None:
    """A thread stands in C with the GIL: breakpoints in Python are set later, all else is refused."""
    text = PROGRAM.replace("failing_calls.crash(1)", "__import__('time').sleep(1)\nlast = 1")
    program = launched(editor, tmp_path, {"line": line("add")}, text=text)
    stop = editor.event("stopped")
    at_end = len(text.splitlines())
    for command in ("scopes", "exceptionInfo", "stepInTargets", "stepIn", "pydevdSystemInfo"):
        assert editor.refused(command, frameId=1, threadId=1_000_000)
    row = editor.set(program, at_end)[0]
    assert not row["verified"] and "goes on" in row["message"]
    assert editor.refused("attach", processId=1) and editor.refused("configurationDone")
    editor.ask("continue", threadId=stop["threadId"])
    changed = editor.event("breakpoint", reason="changed")["breakpoint"]
    assert (changed["id"], changed["verified"]) == (row["id"], True)
    stop = editor.event("stopped")
    assert at(editor, stop) == ("<module>", at_end)
    assert "no exception" in editor.refused("exceptionInfo", threadId=stop["threadId"])
