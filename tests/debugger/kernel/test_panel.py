"""JupyterLab's debugger panel on both languages: a real ipykernel, debugpy and gdb, and its own messages."""

# SPDX-License-Identifier: MIT
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from debugged import SOAK, until
from panel import Message, Panel, idle, kernel

from inspector.debugger import healing
from inspector.debugger.memory import proc

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(180)]

C_CELL = """%%inspect_c
PyObject *twice(PyObject *seq, PyObject *n) {
    long k = PyLong_AsLong(n);
    k = k * 2 + PyList_Size(seq);
    return PyLong_FromLong(k);
}
PyObject *spin(void) {
    for (volatile long i = 0; i >= 0; i++) {}
    Py_RETURN_NONE;
}"""
CELL = """items = [1, 2, 3]
a = twice(items, 21)
b = a + 1
print(a, b)
"""
TWICE, SUM = 2, 4
"""The line that calls; a line of the C function in its cell."""


@pytest.fixture
def panel(folder: Path) -> Iterator[Panel]:
    with kernel(folder) as one:
        one.run("%load_ext inspector")
        one.run(C_CELL)
        yield one


def places(stack: list[Message]) -> list[tuple[str, int]]:
    return [(frame["name"].partition(" [")[0], frame["line"]) for frame in stack]


def stopped_in_c(panel: Panel) -> tuple[str, list[Message]]:
    """A cell that stands in C after a step: its number and the stack."""
    panel.start((CELL, [TWICE]))
    number = panel.begin(CELL)
    assert panel.event("stopped")["reason"] == "breakpoint"
    return number, panel.step("stepIn")


def pid(panel: Panel) -> int:
    """ipykernel's own number."""
    front = psutil.Process(panel.manager.provisioner.pid)  # type: ignore[union-attr]
    return next(child.pid for child in front.children() if "ipykernel_launcher" in child.cmdline())


@pytest.mark.quick
def test_one_stack_of_both_languages_and_their_variables(panel: Panel) -> None:
    number, stack = stopped_in_c(panel)
    assert [name for name, _ in places(stack)] == ["twice", "[interpreter]", "<module>"]
    assert panel.locals(stack[0])["seq"]["value"] == "list [1, 2, 3]"
    module = panel.locals(stack[2])
    assert module["items"]["value"] == "[1, 2, 3]" and "a" not in module and "In" not in module
    text = panel.body("source", source={"path": stack[0]["source"]["path"]})["content"]
    assert text.splitlines()[stack[0]["line"] - 1].startswith("PyObject *twice")
    assert panel.client.hb_channel.is_beating()
    assert panel.body("debugInfo")["stoppedThreads"] == [1]
    assert panel.body("evaluate", expression="n", frameId=stack[0]["id"])["result"] == "int 21"
    assert places(panel.step("next"))[0][0] == "twice"
    assert places(panel.step("stepOut"))[0] == ("<module>", TWICE)
    assert places(panel.step("next"))[0] == ("<module>", TWICE + 1)
    panel.body("continue", threadId=1)
    assert "45 46\n" in panel.printed(number)
    panel.body("disconnect", restart=False, terminateDebuggee=False)
    assert not proc.tracer(pid(panel)) and not healing.differences(pid(panel))
    panel.heard.clear()
    panel._read = 0
    assert places(stopped_in_c(panel)[1])[0][0] == "twice"


def test_the_panel_is_cleared_before_the_cell_ends_and_not_after(panel: Panel) -> None:
    """JupyterLab clears it at `continued`, and shows the cell's variables when the cell ends."""
    panel.run("import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()")
    panel.start((CELL, [TWICE]))
    number = panel.begin(CELL)
    panel.event("stopped")
    assert panel.body("debugInfo")["stoppedThreads"] == [1]  # and not the other threads, which stand too
    panel.body("continue", threadId=1)
    said = [one for one in panel.done(number) if idle(one, number)]
    gone = [one for one in panel.heard if one["content"].get("event") == "continued"]
    assert len(gone) == 1 and panel.heard.index(gone[0]) < panel.heard.index(said[0])
    assert panel.body("debugInfo")["stoppedThreads"] == []
    assert [one["content"].get("event") for one in panel.heard].count("continued") == 1


def test_the_state_is_told_whole_while_a_session_ends(panel: Panel) -> None:
    """JupyterLab reads the breakpoints of every answer: "Could not restore the debugger state" without."""
    panel.start()
    over, state = panel.send("disconnect", restart=False, terminateDebuggee=False), panel.send("debugInfo")
    assert panel.answered(over)["success"]
    told = panel.answered(state)
    assert told["success"] and told["body"]["breakpoints"] == [] and not told["body"]["isStarted"]
    panel.start()


def test_continue_lets_the_thread_in_c_go_on_whichever_is_named(panel: Panel) -> None:
    """JupyterLab forgets the thread that stands before it asks, and then names another."""
    number, _ = stopped_in_c(panel)
    panel.body("continue", threadId=3)
    assert "45 46\n" in panel.printed(number)


def test_a_breakpoint_in_a_c_cell_before_it_is_run(panel: Panel) -> None:
    late = "%%inspect_c\nPyObject *late(PyObject *n) {\n    return PyNumber_Add(n, n);\n}"
    panel.start()
    file = panel.body("dumpCell", code=late)["sourcePath"]
    row = panel.set(file, 3)[0]
    assert not row["verified"] and "not been compiled yet" in row["message"]
    panel.run(late)
    number = panel.begin("late(4)")
    panel.event("stopped")
    stack = panel.stack()
    assert places(stack)[0] == ("late", 3) and stack[0]["source"]["path"] == file
    panel.body("continue", threadId=1)
    assert any("8" in str(one["content"].get("data")) for one in panel.done(number))


def test_a_breakpoint_in_c_and_by_the_name_of_a_function(panel: Panel) -> None:
    panel.run(C_CELL.replace("twice", "thrice").replace("* 2", "* 3"))
    stack = stopped_in_c(panel)[1]
    path = stack[0]["source"]["path"]
    assert panel.set(path, SUM)[0] | {"id": 0} == {"id": 0, "verified": True, "line": SUM}
    named = [{"name": "numpy.dot"}]
    assert panel.body("setFunctionBreakpoints", breakpoints=named)["breakpoints"][0]["verified"] is False
    panel.body("continue", threadId=1)
    assert panel.event("stopped")["reason"] == "breakpoint"
    assert places(panel.stack())[0] == ("twice", SUM)
    panel.set(path)
    panel.body("continue", threadId=1)
    number = panel.begin("import numpy as np\nnp.dot(np.ones(3), np.ones(3))")
    assert panel.event("stopped")["reason"] == "breakpoint"
    stack = panel.stack()
    assert panel.locals(stack[0])["args[0]"]["value"].startswith("numpy.ndarray float64 (3,)")
    panel.body("continue", threadId=1)
    assert any("3.0" in str(one["content"]) for one in panel.done(number))


def test_the_filter_of_crashes_stops_a_cell_that_dies_in_c(panel: Panel) -> None:
    panel.run("import ctypes")
    panel.start()
    panel.body("setExceptionBreakpoints", filters=["crashes"])
    panel.begin("ctypes.memset(0x4141414141414141, 1, 8)")
    stop = panel.event("stopped")
    assert stop["reason"] == "exception" and stop["text"].startswith("SIGSEGV: a pointer that cannot be one")
    assert places(panel.stack())[0][0].startswith("__memset")


ROUNDS = int(os.environ.get("INSPECTOR_ROUNDS") or (100 if SOAK else 1))
ENDS = ["kill gdb", "stop gdb", "stop the front", "interrupt", "restart", "kill the front", "kill the kernel"]


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("how", ENDS)
def test_a_stop_in_c_ends(panel: Panel, how: str, round_: int) -> None:
    number, _ = stopped_in_c(panel)
    kernel_pid = pid(panel)
    time.sleep(random.Random(f"{how} {round_}").uniform(0, 0.3) if round_ else 0)
    if how == "interrupt":
        panel.manager.interrupt_kernel()
        assert any("KeyboardInterrupt" in str(one["content"]) for one in panel.done(number))
    elif how in ("restart", "kill the front", "kill the kernel"):
        front = panel.manager.provisioner.pid  # type: ignore[union-attr]
        gdb = proc.tracer(kernel_pid)
        if how == "restart":
            panel.manager.restart_kernel(now=False)
        else:
            os.kill(kernel_pid if how == "kill the kernel" else front, signal.SIGKILL)
        until(lambda: not proc.alive(kernel_pid) and not proc.alive(gdb), 8.0)
        return
    elif how == "stop the front":
        front = panel.manager.provisioner.pid  # type: ignore[union-attr]
        os.kill(front, signal.SIGSTOP)
        until(lambda: not proc.tracer(kernel_pid), 8.0)
        os.kill(front, signal.SIGCONT)
    else:
        os.kill(proc.tracer(kernel_pid), signal.SIGKILL if how == "kill gdb" else signal.SIGSTOP)
    if how != "interrupt":
        panel.event("stopped")  # what is left of the step: the next line of Python
        panel.wait(lambda one: "Native debugging has ended" in str(one["content"]), since=0)
        assert places(panel.stack()) == [("<module>", TWICE + 1)]
        panel.body("continue", threadId=1)
        assert "45 46\n" in panel.printed(number)
        assert not healing.differences(kernel_pid)
    assert "NameError" not in str(panel.run("print(items)"))


def test_without_gdb_one_sentence_says_so_and_python_is_debugged(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("gcc", "cc", "as", "ld"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    monkeypatch.setenv("PATH", str(tmp_path))
    with kernel(folder) as panel:
        panel.start((CELL.replace("twice(items, 21)", "sum(items)"), [TWICE]))
        panel.begin(CELL.replace("twice(items, 21)", "sum(items)"))
        panel.event("stopped")
        row = panel.set("/nowhere/file.c", 3)[0]
        assert not row["verified"] and "gdb is not installed" in row["message"]
        said = panel.wait(lambda one: one["msg_type"] == "stream", since=0)["content"]["text"]
        assert "Native code is not debugged: gdb is not installed" in said
        assert places(panel.step("stepIn"))[0] == ("<module>", TWICE + 1)


def test_a_cell_sets_what_the_panel_has_no_button_for(panel: Panel) -> None:
    """A function of NumPy by its name, and each write to an array, small and large."""
    panel.run("import numpy as np\nfew, many = np.zeros(3), np.zeros(5000)")
    assert "debugger is off" in str(panel.run("%inspect_break --panel numpy.dot"))
    panel.start()
    assert "numpy.dot: the panel stops there" in str(panel.run("%inspect_break --panel numpy.dot"))
    number = panel.begin("np.dot(few, few)")
    assert panel.event("stopped")["reason"] == "breakpoint"
    assert places(panel.stack())[-1] == ("<module>", 1)
    panel.body("continue", threadId=1)
    panel.done(number)
    for name, change in (("few", "few[1]: 0.0 → 7.0"), ("many", "many[4000]: 0.0 → 7.0")):
        assert "each write stops in the panel" in str(panel.run(f"%inspect_writes --panel {name}"))
        index = change[change.index("[") : change.index("]") + 1]
        number = panel.begin(f"{name}{index} = 7")
        stop = panel.event("stopped")
        assert stop["reason"] == "data breakpoint" and stop["text"].startswith(change)
        panel.wait(lambda one, said=change: said in str(one["content"].get("text")), since=0)  # type: ignore[misc]
        panel.body("continue", threadId=1)
        panel.done(number)
    panel.run("%inspect_writes --panel")
    assert "8.0" in str(panel.run("many[4000] = 8\nprint(many[4000])"))
