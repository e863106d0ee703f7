"""JupyterLab's own debugger panel steps from a cell into C and back, and shows both languages.

INSPECTOR_PICTURES=1 (`make pictures`) writes the pictures that docs/how-to/debug_in_jupyterlab.md shows.
"""

# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from labs import PANEL, RAN, THEMES, Lab

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
CELLS = ("%load_ext inspector", C_CELL, "prices = [1.5, 2.0]\ntotal = scaled(prices, 3.0)\nprint(total)")
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


@pytest.fixture
def page(lab: Lab) -> Any:
    """A notebook of the kernel, its first two cells run."""
    folders = os.environ | {"JUPYTER_DATA_DIR": str(lab.server.folder.parent / "jupyter_data_dir")}
    command = [sys.executable, "-P", "-m", "inspector", "kernel", "install", "--user"]
    subprocess.run(command, env=folders, check=True, timeout=60)
    lab.server.show(lab.page, lab.written(*CELLS, kernel=spec.NAME), len(CELLS))
    lab.page.evaluate(READY)
    for number in (0, 1):
        lab.page.evaluate(NEXT % number)
        lab.page.wait_for_function(RAN_CELL, arg=number)
    return lab.page


def frames(page: Any, first: str) -> list[str]:
    """The rows of the call stack, once the first is of this name."""
    page.locator(".jp-DebuggerCallstackFrame-name").first.filter(has_text=first).wait_for()
    return list(page.locator(".jp-DebuggerCallstackFrame-name").all_inner_texts())


def do(page: Any, command: str) -> None:
    page.evaluate(f"() => window.jupyterapp.commands.execute('debugger:{command}')")


def test_from_a_cell_into_c_and_back(lab: Lab, page: Any) -> None:
    page.locator(f"{PANEL} .jp-DebuggerBugButton").first.click()
    cell = page.locator(f"{PANEL} .jp-CodeCell").nth(2)
    cell.locator(".cm-breakpoint-gutter .cm-gutterElement").nth(2).click()
    page.locator(".jp-DebuggerBreakpoint").wait_for()
    page.evaluate(NEXT % 2)
    assert frames(page, "<module>") == ["<module>"]
    do(page, "stepIn")
    assert frames(page, "scaled") == ["scaled", "[interpreter]", "<module>"]
    page.locator(".jp-DebuggerVariables").get_by_text("list [1.5, 2.0]").wait_for()
    page.locator(f"{PANEL} .jp-CodeCell").nth(1).locator(".jp-DebuggerEditor-highlight").wait_for()
    for theme in THEMES:
        lab.theme(theme)
        picture = lab.photograph(page, theme)
        if os.environ.get("INSPECTOR_PICTURES"):
            (PICTURES / f"{theme}.png").write_bytes(picture)
    do(page, "stepOut")
    frames(page, "<module>")
    do(page, "continue")
    page.wait_for_function(RAN)
    assert "[4.5, 6.0]" in cell.locator(".jp-Cell-outputArea").inner_text()
    page.locator(".jp-DebuggerVariables").get_by_text("total").first.wait_for()
    page.locator(f"{PANEL} .jp-DebuggerBugButton").first.click()
    page.locator(f"{PANEL} .jp-DebuggerBugButton[aria-pressed=false]").first.wait_for()
