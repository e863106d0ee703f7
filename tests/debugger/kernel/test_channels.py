"""What passes through the process in front of ipykernel is what an ordinary kernel would have said."""

# SPDX-License-Identifier: MIT
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from debugged import until
from jupyter_client.kernelspec import KernelSpecManager
from panel import Panel, kernel

from inspector.debugger.kernel import serving, spec
from inspector.faces.cli import main

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(180)]

CELLS = (
    "print('out'); import sys; print('err', file=sys.stderr); 6 * 7",
    "from IPython.display import display; h = display({'text/plain': 'x'}, raw=True, display_id='d'); 1 / 0",
    "h.update({'text/plain': 'y'}, raw=True)",
    "from comm import create_comm; c = create_comm('t', {'a': 1}, comm_id='c', buffers=[b'byte']); c.close()",
    "name = input('who? '); print(name)",
    "é = 'ü' * 100_000; é",
    "!echo shell",
)
_DIFFERS = re.compile(
    r"Tip: [^\"]*|ipykernel_\d+/|0x[0-9a-f]+|\d+-\d\d-\d\dT[^\"]*|[0-9a-f]{8}-[0-9a-f-]{27}|\x1b\[[\d;]*m"
)
"""A random tip, numbers of processes, addresses, dates, numbers of comms."""


def outcome(panel: Panel) -> list[str]:
    """Everything that a session's cells and questions are answered with."""
    client, found = panel.client, list[str]()
    for cell in CELLS:
        told: list[Any] = []
        reply = client.execute_interactive(
            cell, output_hook=told.append, stdin_hook=lambda asked: client.input("me"), timeout=60
        )
        found += [plain(one) for one in [*told, reply]]
    for ask in (
        lambda: client.complete("h.upd", reply=True, timeout=60),
        lambda: client.inspect("display", reply=True, timeout=60),
        lambda: client.comm_info(reply=True, timeout=60),
        lambda: client.kernel_info(reply=True, timeout=60),
    ):
        found.append(plain(ask()))
    return [*found, panel.ask("debugInfo")["command"]]


def plain(message: dict[str, Any]) -> str:
    """A message without what differs from run to run."""
    metadata = {key: value for key, value in message["metadata"].items() if key != "started"}
    parts = [message["msg_type"], message["content"], metadata, [bytes(one) for one in message["buffers"]]]
    return _DIFFERS.sub("_", json.dumps(parts, sort_keys=True, default=str))


@pytest.mark.quick
def test_a_session_has_the_same_outcome(folder: Path) -> None:
    with kernel(folder, "python3") as ordinary, kernel(folder) as panel:
        expected, got = outcome(ordinary), outcome(panel)
        assert got == expected
        kinds = {json.loads(text)[0] for text in got[:-1]}
        assert kinds > {
            "stream",
            "display_data",
            "error",
            "execute_result",
            "comm_open",
            "update_display_data",
        }
        assert any("me\\n" in text for text in got)


def family(panel: Panel) -> list[psutil.Process]:
    """The process in front and all below it."""
    front = psutil.Process(panel.manager.provisioner.pid)  # type: ignore[union-attr]
    return [front, *front.children(recursive=True)]


@pytest.mark.parametrize("how", ["request", "now", "terminate", "kernel killed"])
def test_nothing_is_left(folder: Path, how: str) -> None:
    with kernel(folder) as panel:
        panel.run("import subprocess; child = 1")
        every = family(panel)
        assert len(every) == 2
        if how == "terminate":
            every[0].terminate()
        elif how == "kernel killed":
            every[1].kill()
        else:
            panel.manager.shutdown_kernel(now=how == "now")
        until(lambda: not any(one.is_running() and one.status() != "zombie" for one in every), 10.0)
        until(lambda: not panel.manager.is_alive(), 10.0)


def test_the_folder_of_a_killed_front_is_removed_later(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept, new, left = (tmp_path / f"inspector-kernel-{name}" for name in ("kept", "new", "left"))
    for folder in (kept, new, left):
        folder.mkdir()
        (folder / "lock").touch()
    for folder in (kept, left):
        os.utime(folder, (0, 0))
    with (kept / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        serving.sweep()
    assert sorted(tmp_path.iterdir()) == [kept, new]


def test_interrupt_and_restart(folder: Path) -> None:
    with kernel(folder) as panel:
        number = panel.begin("import time\nprint('begun', flush=True)\ntime.sleep(100)")
        panel.wait(lambda one: one["msg_type"] == "stream")
        panel.manager.interrupt_kernel()
        assert [one["content"]["ename"] for one in panel.done(number) if one["msg_type"] == "error"] == [
            "KeyboardInterrupt"
        ]
        before = family(panel)
        panel.manager.restart_kernel()
        panel.client.wait_for_ready(timeout=60)
        assert any("NameError" in str(one["content"]) for one in panel.run("time.time()"))
        assert not any(one.is_running() for one in before)


def test_the_heartbeat_is_answered_while_c_code_has_the_gil(folder: Path) -> None:
    with kernel(folder) as panel:
        pid = family(panel)[1].pid
        os.kill(pid, signal.SIGSTOP)
        try:
            begun = time.monotonic()
            until(lambda: time.monotonic() - begun > 3.0 and panel.client.hb_channel.is_beating(), 6.0)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert panel.run("1")


@pytest.mark.quick
def test_it_is_installed_and_removed(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "p" / "share" / "jupyter"))
    for where in (["--user"], ["--prefix", str(tmp_path / "p")]):
        assert main(["kernel", "install", *where]) == 0
        found = KernelSpecManager().get_kernel_spec(spec.NAME)
        assert found.display_name == "Python 3 (native debugging)" and found.metadata["debugger"]
        assert main(["kernel", "remove", *where]) == 0
        assert spec.NAME not in KernelSpecManager().find_kernel_specs()
        assert main(["kernel", "remove", *where]) == 2
    assert "there is no such kernel" in capsys.readouterr().err
    assert main(["kernel", "install", "--prefix", "/proc/nowhere"]) == 2
    assert main(["kernel", "run", "--file", "/nowhere"]) == 2
    assert "no connection file" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["ipykernel", "debugpy"])
def test_what_is_missing_is_said(package: str) -> None:
    begin = "import sys; from importlib import metadata as m; old = m.version\n"
    begin += f"m.version = lambda name: '5.1' if name == {package!r} == 'ipykernel' else "
    begin += f"(_ for _ in ()).throw(m.PackageNotFoundError()) if name == {package!r} else old(name)\n"
    begin += "from inspector.faces.cli import main; sys.exit(main(['kernel', 'install']))"
    done = subprocess.run([sys.executable, "-P", "-c", begin], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and f"#{package}-missing" in done.stderr
