"""JupyterLab as a person uses it: open a notebook, run its cells, read and photograph what they show."""

# SPDX-License-Identifier: MIT
import json
import re
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update"]
SETTINGS: dict[str, dict[str, Any]] = {
    # no news and no update checks: nothing leaves the machine
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    # every cell is in the page, not only those in sight
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
}
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
MILLISECONDS = 200_000
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
"""The notebook in front."""

RUN = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  await panel.sessionContext.session.kernel.info;
  await window.jupyterapp.commands.execute('notebook:run-all-cells');
}"""
RAN = """() => {
  const panel = window.jupyterapp.shell.currentWidget;
  return panel.content.widgets.every(cell => cell.model.executionCount > 0)
    && panel.sessionContext.session.kernel.status === 'idle';
}"""
OPEN = """async path => {
  await (await window.jupyterapp.commands.execute('docmanager:open', { path })).context.ready;
}"""
THEME = """async name => {
  await window.jupyterapp.commands.execute('apputils:change-theme', {theme: name});
}"""


def brightness(locator: Any, of: str = "color") -> float:
    """Of an element's text, or of another colour: 0 is black, 1 white."""
    said = locator.evaluate(f"element => getComputedStyle(element).{of}")
    return sum(float(part) for part in re.findall(r"[\d.]+", said)[:3]) / 765


def outputs(page: Any) -> Any:
    """The output areas of the cells of the notebook in front, as a locator."""
    return page.locator(f"{PANEL} .jp-CodeCell .jp-Cell-outputArea")


@dataclass(frozen=True)
class Server:
    """A running JupyterLab: its address, with the slash, and the folder it shows."""

    address: str
    token: str
    folder: Path

    def show(self, page: Any, name: str, cells: int, front: str = "") -> None:
        """A notebook of the folder in front, drawn to its last cell.

        Where the page is empty it is JupyterLab's, or that of another `front` end of the server.
        """
        if page.url == "about:blank":
            front = front or f"lab/workspaces/{uuid.uuid4().hex}/tree"
            page.goto(f"{self.address}{front}/{name}?reset&token={self.token}")
        else:
            page.evaluate(OPEN, name)
        page.locator(f"{PANEL} .jp-CodeCell").nth(cells - 1).wait_for()


class Lab:
    """One page of one browser context, on one server."""

    def __init__(self, server: Server, browser: Any, shots: Path, name: str) -> None:
        self.server, self.browser, self.shots, self.name = server, browser, shots, name
        self.complaints: list[str] = []
        self.strangers: list[str] = []
        self.context = browser.new_context(viewport={"width": 1300, "height": 1000})
        self.context.set_default_timeout(MILLISECONDS)
        self.page = self.another()

    def another(self) -> Any:
        """One more page of the same browser context, listened to as well."""
        page = self.context.new_page()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(f"{error} {error.stack}"))
        page.on("request", self._asked)
        return page

    def _said(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(f"{message.text} ({message.location.get('url', '')})")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.server.address, "data:", "blob:")):
            self.strangers.append(request.url)

    def run(self, *cells: str, page: Any = None, front: str = "", kernel: str = "python3") -> list[Any]:
        """A new notebook with these cells, run to its end; the output area of each, as a locator."""
        page = page or self.page
        self.server.show(page, self.written(*cells, kernel=kernel), len(cells), front)
        page.evaluate(RUN)
        page.wait_for_function(RAN)
        areas = outputs(page)
        assert areas.count() == len(cells)
        return [areas.nth(number) for number in range(len(cells))]

    def written(self, *cells: str, kernel: str = "python3") -> str:
        """The name of a new notebook with these cells, for a kernel."""
        import nbformat  # not everywhere the file is collected

        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
            metadata={"kernelspec": {"name": kernel, "display_name": kernel}},
        )
        name = f"{uuid.uuid4().hex}.ipynb"
        (self.server.folder / name).write_text(json.dumps(notebook))
        return name

    def theme(self, name: str) -> None:
        """Switch to "light" or "dark", and wait until the page has it."""
        self.page.evaluate(THEME, THEMES[name])
        said = {"light": "true", "dark": "false"}[name]
        self.page.locator(f"body[data-jp-theme-light={said}]").wait_for(state="attached")

    def photograph(self, what: Any, of: str) -> bytes:
        """A picture of a locator, kept in build/browser."""
        self.shots.mkdir(parents=True, exist_ok=True)
        picture: bytes = what.screenshot(path=self.shots / f"{self.name}-{of}.png", animations="disabled")
        return picture

    def end_kernel(self, page: Any = None) -> None:
        """End the kernel of the notebook in front."""
        (page or self.page).evaluate(
            "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.shutdown()"
        )

    def close(self) -> None:
        """End the notebook's kernel and the page."""
        if not self.page.is_closed() and self.page.evaluate("() => !!window.jupyterapp"):
            self.page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
        self.context.close()
