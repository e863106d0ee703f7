"""At which of its hits a breakpoint stops, in Python and in C: counted where its condition holds."""

# SPDX-License-Identifier: MIT
import time
from pathlib import Path

import pytest
import specimens
from dap_client import Editor

from inspector.debugger.dap.hit_counts import counted, rule
from inspector.debugger.dap.watchpoints import watched

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(180)]

C = r"""
#include <Python.h>
static PyObject *hit(PyObject *self, PyObject *n) {
    long i = PyLong_AsLong(n);
    return PyLong_FromLong(i); /* here */
}
"""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import hits_of
for i in range(20):
    hits_of.hit(i)
"""
CALL = 6
HERE = next(n for n, text in enumerate(C.splitlines(), 1) if "/* here */" in text)
STOPS = [
    ("i > 5", "3", [8]),
    ("i > 5", ">= 12", [17, 18, 19]),
    ("i % 2 == 1", "%4", [7, 15]),
    ("", "> 18", [18, 19]),
    ("i < 2", "", [0, 1]),
]


@pytest.mark.parametrize(("condition", "hits", "expected"), STOPS)
@pytest.mark.parametrize("language", ["Python", "C"])
def test_a_hit_counts_where_the_condition_holds(
    editor: Editor, tmp_path: Path, language: str, condition: str, hits: str, expected: list[int]
) -> None:
    library, program = specimens.library("hits_of", C, flags=("-O0",)), tmp_path / "program.py"
    program.write_text(PROGRAM)
    path, line = (program, CALL) if language == "Python" else (library.parent / "hits_of.c", HERE)
    editor.ask("initialize", adapterID="inspector", pathFormat="path", linesStartAt1=True)
    given = {"args": [str(library.parent)], "console": "internalConsole"}
    number = editor.send("launch", program=str(program), **given)
    editor.event("initialized")
    row = {"line": line, **({"condition": condition} if condition else {})}
    row |= {"hitCondition": hits} if hits else {}
    editor.ask("setBreakpoints", source={"path": str(path)}, breakpoints=[row])
    editor.ask("configurationDone")
    assert editor.answered(number)["success"]
    seen = []
    while True:
        told = editor.wait(lambda one: one.get("event") in ("stopped", "terminated"))
        if told["event"] == "terminated":
            break
        thread = told["body"]["threadId"]
        frame = editor.stack(thread)[0]
        seen.append(int(editor.ask("evaluate", expression="i", frameId=frame["id"])["result"]))
        editor.ask("continue", threadId=thread)
    assert seen == expected


def test_what_is_no_rule_is_refused_for_c_and_left_to_debugpy() -> None:
    for text in ("% 0", "x", "3 times", ">= -1"):
        with pytest.raises(ValueError, match="a hit condition is a number"):
            rule(text)
    assert (rule(""), rule(" 3 "), rule(">=  4")) == (("", 0), ("==", 3), (">=", 4))
    alone = {"line": 1, "hitCondition": "3"}
    assert counted(alone) is alone
    commented = counted({"condition": "x # more", "hitCondition": "%2"})["condition"]
    assert commented.startswith("(x # more\n) and ") and commented.endswith(" % 2 == 0\n)")
    assert "(len(x) > 2\n)" in counted({"condition": "x", "hitCondition": "len(x) > 2"})["condition"]
    wide = '{"address": 4096, "bytes": 800, "letter": "d", "label": "x"}'
    with pytest.raises(ValueError, match="without a hit count"):
        watched({"dataId": wide, "hitCondition": "2"}, 1)


def test_debugpy_answers_without_the_delay_of_a_kept_back_packet(editor: Editor, tmp_path: Path) -> None:
    """Linux acknowledges a lone packet after 40 ms; the best of ten is no matter of the machine's load."""
    program = tmp_path / "program.py"
    program.write_text("x = 1\ny = 2\n")
    editor.begun("launch", program=str(program), console="internalConsole", source={str(program): [2]})
    thread, best = editor.event("stopped")["threadId"], 1.0
    for _ in range(10):
        begin = time.perf_counter()
        editor.stack(thread)
        best = min(best, time.perf_counter() - begin)
    assert best < 0.03
    editor.ask("disconnect", terminateDebuggee=True)
