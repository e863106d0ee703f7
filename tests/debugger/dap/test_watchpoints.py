"""Who writes to this array, to this variable of C: an editor's data breakpoints, in both languages."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from pathlib import Path

import pytest
import specimens
from dap_client import Editor, Message, conforms

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(180)]

C = r"""
#include <Python.h>
static PyObject *filled(PyObject *self, PyObject *x) {
    Py_buffer view;
    double total = 0;
    if (PyObject_GetBuffer(x, &view, PyBUF_WRITABLE) < 0) /* begin */
        return NULL;
    double *values = view.buf;
    long count = view.len / 8;
    for (long i = count - 1; i >= 0; i -= 100) {
        values[i] = i + 0.5; /* store */
        total += values[i]; /* sum */
    }
    PyBuffer_Release(&view);
    return PyFloat_FromDouble(total);
}
"""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import watched
class Account:
    def __init__(self):
        self.balance = 1
def work(a, big, account):
    first = 1
    a[1] = 2.5
    np.add(a, 1, out=a)
    watched.filled(a)
    watched.filled(big)
    account.balance = first + 5
    return first
print(work(np.zeros(4), np.zeros(100_000), Account()))
"""
BEGIN, SET, ADD, FILL, FILL_BIG, PAY = 10, 11, 12, 13, 14, 15


def library() -> Path:
    return specimens.library("watched", C, flags=("-O0",))


def line(mark: str) -> int:
    return next(n for n, text in enumerate(C.splitlines(), 1) if f"/* {mark} */" in text)


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with Editor() as one:
        given = {"args": [str(library().parent)], "console": "internalConsole"}
        one.begun("launch", program=str(program), source={str(program): [BEGIN]}, **given)
        yield one
        one.ask("disconnect", terminateDebuggee=True)
    for message in one.heard:
        conforms(message)


def watch(editor: Editor, *named: Message) -> list[Message]:
    """Set data breakpoints on what was named, as an editor does: first the info, then the breakpoint."""
    told = [editor.ask("dataBreakpointInfo", **one) for one in named]
    assert all(one["dataId"] and "write" in one["accessTypes"] for one in told), told
    rows = [{"dataId": one["dataId"], "accessType": "write"} for one in told]
    return list(editor.ask("setDataBreakpoints", breakpoints=rows)["breakpoints"])


def go_on(editor: Editor, thread: int) -> tuple[str, list[tuple[str, int]]]:
    """The next stop at a write: what it says, and its stack."""
    editor.ask("continue", threadId=thread)
    stop = editor.event("stopped", reason="data breakpoint")
    stack = [(one["name"].partition(" [")[0], one["line"]) for one in editor.stack(stop["threadId"])]
    return stop["text"], stack


def test_who_writes_to_a_small_array(editor: Editor) -> None:
    """Python, NumPy and the line of an extension, each with the old and the new value."""
    thread = editor.event("stopped")["threadId"]
    frame = editor.stack(thread)[0]
    row = watch(editor, {"name": "a", "frameId": frame["id"]})[0]
    assert row["verified"], row
    said, stack = go_on(editor, thread)
    assert said.startswith("a[1]: 0.0 → 2.5, by ") and ("work", SET) in stack
    said, stack = go_on(editor, thread)
    assert said.startswith("a[0]: 0.0 → 1.0") and ("work", ADD) in stack
    while "watched.c" not in said:
        said, stack = go_on(editor, thread)
    assert said == f"a[3]: 1.0 → 3.5, by filled watched.c:{line('store')}"
    assert stack[0][0] == "filled" and ("work", FILL) in stack
    assert editor.ask("setDataBreakpoints", breakpoints=[]) == {"breakpoints": []}


def test_who_writes_to_a_large_array(editor: Editor) -> None:
    """800 kB by protected pages: the line of C, and the element."""
    thread = editor.event("stopped")["threadId"]
    frame = editor.stack(thread)[0]
    row = watch(editor, {"name": "big", "frameId": frame["id"]})[0]
    assert row["verified"], row
    for last in (99_999, 99_899, 99_799):
        said, stack = go_on(editor, thread)
        assert said == f"big[{last}]: 0.0 → {last}.5, by filled watched.c:{line('store')}"
        assert stack[0][0] == "filled" and ("work", FILL_BIG) in stack
    assert editor.locals(editor.stack(thread)[0])["i"]["value"] == "99799"
    editor.ask("setDataBreakpoints", breakpoints=[])
    editor.ask("continue", threadId=thread)
    editor.event("exited", exitCode=0)


@pytest.mark.parametrize("step", ["next", "stepIn"])
def test_no_write_to_a_large_array_is_missed_by_steps(editor: Editor, step: str) -> None:
    """The watch steps each store by itself; a debugger's single steps would take its traps."""
    thread = editor.event("stopped")["threadId"]
    frame = editor.stack(thread)[0]
    assert watch(editor, {"name": "big", "frameId": frame["id"]})[0]["verified"]
    said, lines = [go_on(editor, thread)[0]], set()
    while len(said) < 4 and len(editor.heard) < 1000:
        editor.ask(step, threadId=thread)
        stop = editor.event("stopped")
        said += [stop["text"]] if "text" in stop else []
        lines.add(editor.stack(thread)[0]["line"])
    assert [one.partition(":")[0] for one in said] == [f"big[{99_999 - 100 * n}]" for n in range(4)]
    assert {line("sum"), line("store")} <= lines
    editor.ask("setDataBreakpoints", breakpoints=[])
    editor.ask("continue", threadId=thread)
    editor.event("exited", exitCode=0)


def test_a_variable_of_c_an_element_and_an_attribute(editor: Editor) -> None:
    """Named in a C frame, in a Python frame above which C stands, and inside an opened variable."""
    thread = editor.event("stopped")["threadId"]
    path = str(library().parent / "watched.c")
    editor.set(path, line("begin"))
    editor.ask("continue", threadId=thread)
    editor.event("stopped", reason="breakpoint")
    stack = editor.stack(thread)
    work = next(one for one in stack if one["name"] == "work")
    scope = editor.ask("scopes", frameId=stack[0]["id"])["scopes"][0]["variablesReference"]
    inside = editor.locals(work)["account"]["variablesReference"]
    rows = watch(
        editor,
        {"name": "total", "variablesReference": scope},
        {"name": "a[3]", "frameId": work["id"]},
        {"name": "balance", "variablesReference": inside},
    )
    assert all(row["verified"] for row in rows), rows
    editor.set(path)
    frame = stack[0]
    refused = editor.ask("dataBreakpointInfo", name="count + 1", frameId=frame["id"])
    assert refused["dataId"] is None and "no memory" in refused["description"]
    where = f"by filled watched.c:{line('store')}"
    assert go_on(editor, thread)[0] == f"a[3]: 1.0 → 3.5, {where}"
    assert go_on(editor, thread)[0] == f"total: 0.0 → 3.5, by filled watched.c:{line('sum')}"
    said, stack = go_on(editor, thread)  # the variable's memory is others' now
    assert said.startswith("balance: int 1 → int 6, by ") and ("work", PAY) in stack
    over = [one["body"]["breakpoint"] for one in editor.heard if one.get("event") == "breakpoint"]
    assert "its function has returned" in [one.get("message") for one in over]


def test_what_cannot_be_watched_is_said(editor: Editor) -> None:
    thread = editor.event("stopped")["threadId"]
    frame = editor.stack(thread)[0]["id"]
    told = editor.ask("dataBreakpointInfo", name="account", frameId=frame)
    assert told["dataId"] is None and "account: " in told["description"]
    ask = {"name": "a", "frameId": frame}
    ids = [editor.ask("dataBreakpointInfo", **ask)["dataId"] for _ in range(2)]
    rows = editor.ask("setDataBreakpoints", breakpoints=[{"dataId": one} for one in ids])["breakpoints"]
    assert [row["verified"] for row in rows] == [True, False]
    assert "four words" in rows[1]["message"]
    wrong = editor.ask("setDataBreakpoints", breakpoints=[{"dataId": ids[0], "accessType": "read"}])
    assert "writes can be watched" in wrong["breakpoints"][0]["message"]
    wrong = editor.ask("setDataBreakpoints", breakpoints=[{"dataId": "nosuch"}])
    assert not wrong["breakpoints"][0]["verified"]
