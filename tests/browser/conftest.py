"""A real JupyterLab in Debian's Chromium: one server a session, one browser and one page a file.

Nothing here sleeps: a wait is always for something the page or the server says. The server, its settings and
the browser's profile live in a temporary folder; screenshots go to build/browser.
"""

# SPDX-License-Identifier: MIT
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from labs import FLAGS, SETTINGS, Lab, Server

SHOTS = Path(__file__).parents[2] / "build" / "browser"
RUNS = range(10) if os.environ.get("INSPECTOR_SOAK") == "1" else None
"""Whole runs of the folder in a row, each with a server of its own."""
SECONDS = 300
"""Of a test on a busy machine: the first of a file waits for the page, a kernel and all cells."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder is a browser test."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(SECONDS))


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where Debian's Chromium is: .ci/system.py brings it."""
    found = shutil.which("chromium")
    assert found, "chromium is missing: sudo apt-get install chromium"
    return found


@pytest.fixture(scope="session", autouse=True, params=RUNS)
def run() -> None:
    """Every test of this folder asks for it, so that they are all run as often as it has values."""


@pytest.fixture(scope="session")
def server(run: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab server on a free port with a token, settings of its own and an empty folder."""
    home = tmp_path_factory.mktemp("lab")
    for plugin, settings in SETTINGS.items():
        file = home / "settings" / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings))
    (home / "files").mkdir()
    token = uuid.uuid4().hex
    with (home / "log").open("w") as log:
        streams = {"stdout": log, "stderr": log, "start_new_session": True}
        process = subprocess.Popen(_command(home, token), env=_environment(home), cwd=home, **streams)
    try:
        yield Server(_address(process, home / "log"), token, home / "files")
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # the server ends its kernels
        process.wait(SECONDS)


def _command(home: Path, token: str) -> list[str]:
    """jupyter lab, without a browser and without calls to the network."""
    given = {
        "ServerApp.root_dir": str(home / "files"),
        "ServerApp.open_browser": "False",
        "ServerApp.allow_root": "True",
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": "0",
        "IdentityProvider.token": token,
        "LabApp.expose_app_in_browser": "True",
        "JupyterNotebookApp.expose_app_in_browser": "True",
        "LabApp.user_settings_dir": str(home / "settings"),
        "LabApp.workspaces_dir": str(home / "workspaces"),
        "LabApp.extension_manager": "readonly",
        "KernelSpecManager.ensure_native_kernel": "True",
    }
    return [sys.executable, "-P", "-m", "jupyterlab", *(f"--{name}={value}" for name, value in given.items())]


def _environment(home: Path) -> dict[str, str]:
    """The machine's own Jupyter and IPython settings are out of the way."""
    names = [f"JUPYTER_{what}_DIR" for what in ("CONFIG", "DATA", "RUNTIME")]
    folders = {name: str(home / name.lower()) for name in names}
    return os.environ | folders | {"IPYTHONDIR": str(home / "ipython"), "JUPYTER_PLATFORM_DIRS": "1"}


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """The address that the server's log says; asked until it is there, or the server is gone."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:\d+/", log.read_text()):
            return found.group()
        time.sleep(0.05)
    raise AssertionError(f"jupyter lab did not start:\n{log.read_text()[-3000:]}")


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[object]:
    """Chromium without a window. It ends with the file: Playwright leaves an event loop running till then."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def lab(server: Server, browser: object, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A page of JupyterLab; at its end it has said no error on the console and asked nobody else.

    A file whose front end says errors of its own has a part of each one's words in `EXPECTED`.
    """
    opened = Lab(server, browser, SHOTS, request.path.stem.removeprefix("test_"))
    yield opened
    opened.close()
    expected = getattr(request.module, "EXPECTED", ())
    assert [said for said in opened.complaints if not any(words in said for words in expected)] == []
    assert opened.strangers == []
