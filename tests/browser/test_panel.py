"""JupyterLab's own debugger panel steps from a cell into C, Cython, pybind11 and NumPy and back.

INSPECTOR_PICTURES=1 (`make pictures`) writes the pictures that docs/how-to/debug_in_jupyterlab.md shows.
"""

# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import bindings
import pytest
from labs import PANEL, THEMES, Lab

from inspector.debugger.kernel import spec

PICTURES = Path(__file__).parents[2] / "docs" / "pictures" / "panel"
EXPECTED = ("Canceled future for debug_request", "Failed to execute 'removeChild'")
"""What JupyterLab says of a question that was not answered yet when the page closes, and, now and then, of a
node of its panel that was replaced while it was drawn. No code of ours runs in this page."""
C_CELL = """%%inspect_c
PyObject *scaled(PyObject *values, PyObject *by) {
    double factor = PyFloat_AsDouble(by);
    PyObject *all = PyList_New(0);
    for (Py_ssize_t i = 0; i < PyList_Size(values); i++) {
        double one = PyFloat_AsDouble(PyList_GetItem(values, i));
        PyObject *item = PyFloat_FromDouble(one * factor);
        PyList_Append(all, item);
        Py_DECREF(item);
    }
    return all;
}"""
BEGIN = """%load_ext inspector
import numpy as np
import stepped_cpp, stepped_pyx
stepped_cpp.filled(np.ones(1), 0.0)"""  # pybind11 imports parts of NumPy at the first array
WORK = """prices = [1.5, 2.0]
total = scaled(prices, 3.0)
dot = np.dot(ones, ones)
six = stepped_pyx.doubled(prices)
first = stepped_cpp.filled(ones, dot)
print(total)"""
WATCH = """ones = np.ones(1000)
%inspect_writes --panel ones
stepped_cpp.filled(ones, 5.0)
%inspect_writes --panel"""
CELLS = (BEGIN, C_CELL, "ones = np.ones(3)", WORK, WATCH)
READY = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  await panel.sessionContext.session.kernel.info;
}"""
NEXT = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  panel.content.activeCellIndex = %d;
  void window.jupyterapp.commands.execute('notebook:run-cell');
}"""
RAN_CELL = """number => window.jupyterapp.shell.currentWidget.content.widgets[number].model.executionCount > 0
  && window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"""

TO_NOTEBOOK = """() => {
  const shell = window.jupyterapp.shell;
  shell.activateById([...shell.widgets('main')].find(one => one.hasClass('jp-NotebookPanel')).id);
}"""
"""From the tab with the source of a stop."""
OTHER_STACK = """before => {
  const names = [...document.querySelectorAll('.jp-DebuggerCallstackFrame-name')].map(one => one.innerText);
  return names.length > 0 && JSON.stringify(names) !== JSON.stringify(before);
}"""


@pytest.fixture
def page(lab: Lab) -> Any:
    """A notebook of the kernel, its first cells run; beside it two compiled extensions."""
    folders = os.environ | {"JUPYTER_DATA_DIR": str(lab.server.folder.parent / "jupyter_data_dir")}
    command = [sys.executable, "-P", "-m", "inspector", "kernel", "install", "--user"]
    subprocess.run(command, env=folders, check=True, timeout=60)
    bindings.stepped(lab.server.folder)
    lab.server.show(lab.page, lab.written(*CELLS, kernel=spec.NAME), len(CELLS))
    lab.page.evaluate(READY)
    for number in (0, 1, 2):
        lab.page.evaluate(NEXT % number)
        lab.page.wait_for_function(RAN_CELL, arg=number)
    return lab.page


def frames(page: Any, first: str) -> list[str]:
    """The rows of the call stack, once the first is of this name."""
    page.locator(".jp-DebuggerCallstackFrame-name").first.filter(has_text=first).wait_for()
    return list(page.locator(".jp-DebuggerCallstackFrame-name").all_inner_texts())


def do(page: Any, command: str) -> None:
    page.evaluate(f"() => window.jupyterapp.commands.execute('debugger:{command}')")


def at_line(page: Any, number: int) -> None:
    """Wait until the cell's own line is the current one: what a step out of C has left is stepped over."""
    page.locator(".jp-DebuggerCallstackFrame-location").first.filter(has_text=f":{number}").wait_for()


def photographed(lab: Lab, page: Any, name: str) -> None:
    """Pictures in both themes, for the page in docs where they are asked for."""
    for theme in THEMES:
        lab.theme(theme)
        picture = lab.photograph(page, f"{name}{theme}")
        if os.environ.get("INSPECTOR_PICTURES"):
            (PICTURES / f"{name}{theme}.png").write_bytes(picture)


def test_from_a_cell_into_c_and_back(lab: Lab, page: Any) -> None:
    page.locator(f"{PANEL} .jp-DebuggerBugButton").first.click()
    cell = page.locator(f"{PANEL} .jp-CodeCell").nth(3)
    cell.locator(".cm-breakpoint-gutter .cm-gutterElement").nth(2).click()
    page.locator(".jp-DebuggerBreakpoint").wait_for()
    page.evaluate(NEXT % 3)
    assert frames(page, "<module>") == ["<module>"]
    do(page, "stepIn")
    assert frames(page, "scaled") == ["scaled", "[interpreter]", "<module>"]
    variables = page.locator(".jp-DebuggerVariables")
    variables.get_by_text("list [1.5, 2.0]").wait_for()
    page.locator(f"{PANEL} .jp-CodeCell").nth(1).locator(".jp-DebuggerEditor-highlight").wait_for()
    photographed(lab, page, "")
    page.locator(".jp-DebuggerCallstackFrame").last.click()
    variables.get_by_text("prices").first.wait_for()
    out_and_on(page, 3)
    do(page, "stepIn")
    assert frames(page, "array_matrixproduct")[-2:] == ["[interpreter]", "<module>"]
    variables.get_by_text("numpy.ndarray float64 (3,) 1.0, 1.0, 1.0").first.wait_for()
    out_and_on(page, 4)
    do(page, "stepIn")
    assert frames(page, "stepped_pyx.doubled") == [
        "stepped_pyx.doubled [stepped_pyx]",
        "[interpreter]",
        "<module>",
    ]
    shown(page, "cdef double total")
    photographed(lab, page, "cython-")
    out_and_on(page, 5)
    do(page, "stepIn")
    assert frames(page, "operator()") == ["operator() [stepped_cpp]", "[interpreter]", "<module>"]
    shown(page, "double *values")
    out_and_on(page, 6)
    page.evaluate(TO_NOTEBOOK)
    do(page, "continue")
    page.wait_for_function(RAN_CELL, arg=3)
    assert "[4.5, 6.0]" in cell.locator(".jp-Cell-outputArea").inner_text()
    variables.get_by_text("total").first.wait_for()
    written_by_c(lab, page)
    page.locator(f"{PANEL} .jp-DebuggerBugButton").first.click()
    page.locator(f"{PANEL} .jp-DebuggerBugButton[aria-pressed=false]").first.wait_for()


def out_and_on(page: Any, line: int) -> None:
    """Step out of C, and over to the next line of the cell."""
    while "<module>" not in page.locator(".jp-DebuggerCallstackFrame-name").first.inner_text():
        before = page.locator(".jp-DebuggerCallstackFrame-name").all_inner_texts()
        do(page, "stepOut")
        page.wait_for_function(OTHER_STACK, arg=before)
    do(page, "next")
    at_line(page, line)


def shown(page: Any, text: str) -> None:
    """The source of a file in its own tab, the line marked."""
    page.locator(".jp-DebuggerEditor-highlight").filter(has_text=text).first.wait_for()


def written_by_c(lab: Lab, page: Any) -> None:
    """A cell watches an array: the panel stands in the line of C++ that has just written to it."""
    page.evaluate(NEXT % 4)
    frames(page, "operator()")
    page.locator(".jp-DebuggerVariables").get_by_text("values").first.wait_for()
    photographed(lab, page, "write-")
    page.evaluate(TO_NOTEBOOK)
    page.locator(f"{PANEL} .jp-CodeCell").nth(4).get_by_text("ones[0]: 1.0 → 5.0, by ").wait_for()
    do(page, "continue")
    page.wait_for_function(RAN_CELL, arg=4)
