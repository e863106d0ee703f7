"""An editor steps into the author's own line where a binding generator's function stands before it."""

# SPDX-License-Identifier: MIT
from pathlib import Path

import bindings
import pytest
from dap_client import Editor

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(180)]
PROGRAM = """import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import stepped_cpp
import stepped_pyx
zeros = np.zeros(4)
def work():
    four = stepped_cpp.halved(8.0)
    six = stepped_pyx.doubled([1.0, 2.0])
    first = stepped_cpp.filled(zeros, four)
    return four + six + first
assert work() == 14.0
"""
CHOSEN = """import numpy as np
def py(x):
    return x
def work():
    a = np.zeros(1)
    return a.fill(3), py(a.item(0))
work()
"""
CLASSES = """import ctypes
import sys
sys.path[:0] = sys.argv[1:]
import stepped_cpp
import stepped_nanobind
import stepped_pyx
library = ctypes.CDLL(stepped_cpp.__file__)
called = ctypes.CFUNCTYPE(ctypes.c_int)
def work():
    stepped_nanobind.added(1, 2)
    stepped_nanobind.twice(3)
    bin = stepped_nanobind.Bin(1)
    bin.grown(2)
    box = stepped_cpp.Box(1)
    box.grown(2)
    stepped_pyx.Sum(1.0)
    library.plain(int(called(int)() or 1))
work()
"""
REACHED = ("added", "operator()", "Bin::Bin", "Bin::grown", "Box::Box", "Box::grown",
           "stepped_pyx.Sum.__init__", "plain")  # fmt: skip
LINES = {"halved": 8, "stepped_pyx.doubled": 9, "operator()": 10}
"""The functions, and the lines of `work` that call them."""


def test_into_cython_a_function_and_a_lambda_of_pybind11_and_out(tmp_path: Path) -> None:
    bindings.stepped(tmp_path)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with Editor() as editor:
        begin = {str(program): [LINES["halved"]]}
        arguments = {"args": [str(tmp_path)], "console": "internalConsole"}
        editor.begun("launch", program=str(program), source=begin, **arguments)
        thread = editor.event("stopped")["threadId"]
        for name, line in LINES.items():
            stack = step(editor, "stepIn", thread)
            if "pyx" in name:
                frame = editor.stack(thread)[0]
                assert set(editor.locals(frame)) == {"values", "total", "value"}
                said = editor.ask("evaluate", expression="values", frameId=frame["id"])
                assert said["result"] == "list [1.0, 2.0]"
            assert [row[0] for row in stack] == [name, "[interpreter]", "work", "<module>"]
            kind = ".pyx" if "pyx" in name else ".cpp"
            text = bindings.STEPPED[kind].splitlines()[stack[0][1] - 1]
            assert text.strip().startswith(("cdef double total", "double half", "double *values"))
            assert step(editor, "next", thread)[0][1] > stack[0][1]
            assert step(editor, "stepOut", thread)[0] == ("work", line)
            assert step(editor, "next", thread)[0] == ("work", line + 1)
        editor.ask("continue", threadId=thread)
        editor.event("exited", exitCode=0)


def test_into_functions_methods_and_constructors_of_each_binding(tmp_path: Path) -> None:
    """nanobind's too, and a function that ctypes has not looked up yet; one step out leads past libffi."""
    bindings.stepped(tmp_path)
    nanobind = bindings.with_nanobind("stepped_nanobind", bindings.STEPPED_NANOBIND)
    program = tmp_path / "program.py"
    program.write_text(CLASSES)
    first = CLASSES.splitlines().index("def work():") + 2
    with Editor() as editor:
        arguments = {"args": [str(tmp_path), str(nanobind.parent)], "console": "internalConsole"}
        editor.begun("launch", program=str(program), source={str(program): [first]}, **arguments)
        thread = editor.event("stopped")["threadId"]
        for line, name in enumerate(REACHED, first):
            stack = step(editor, "stepIn", thread)
            assert stack[0][0] == name
            stack = step(editor, "stepOut", thread)
            while name != "plain" and stack[0][0] != "work":
                stack = step(editor, "stepOut", thread)
            assert stack[0] == ("work", line)
            if name != "plain":
                assert step(editor, "next", thread)[0] == ("work", line + 1)
        editor.ask("disconnect", terminateDebuggee=True)


def test_of_the_functions_of_a_line_one_is_chosen(tmp_path: Path) -> None:
    """Python's and C's are offered, local variables' methods too; what comes before is stepped over."""
    program = tmp_path / "program.py"
    program.write_text(CHOSEN)
    with Editor() as editor:
        editor.begun("launch", program=str(program), console="internalConsole", source={str(program): [6]})
        thread = editor.event("stopped")["threadId"]
        frame = editor.stack(thread)[0]["id"]
        targets = editor.ask("stepInTargets", frameId=frame)["targets"]
        labels = [one["label"] for one in targets]
        assert {"fill in C", "item in C"} <= set(labels), labels
        chosen = next(one["id"] for one in targets if one["label"] == "item in C")
        editor.ask("stepIn", threadId=thread, targetId=chosen)
        assert editor.event("stopped")["reason"] == "step"
        assert editor.stack(thread)[0]["name"].startswith("array_toscalar")
        editor.ask("disconnect", terminateDebuggee=True)


def step(editor: Editor, how: str, thread: int) -> list[tuple[str, int]]:
    editor.ask(how, threadId=thread)
    stack = editor.stack(editor.event("stopped")["threadId"])
    return [(frame["name"].partition(" [")[0], frame["line"]) for frame in stack]
