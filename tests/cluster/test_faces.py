"""A cluster from a notebook's magics and from the terminal."""

# SPDX-License-Identifier: MIT
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.libraries

SCRIPT = """
    from distributed import Client

    def turned(count):
        import numpy as np
        return np.ascontiguousarray(np.arange(count, dtype="f8").reshape(-1, 10).T).shape

    client = Client({address!r})
    print(client.submit(turned, 1_000_000, pure=False).result())
"""


@pytest.fixture
def shell(client: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    from IPython.testing.globalipapp import start_ipython

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    made = start_ipython()
    if made is None:
        from IPython.core.getipython import get_ipython

        made = get_ipython()
    made.run_line_magic("load_ext", "inspector")
    made.user_ns["client"] = client
    yield made
    made.run_line_magic("unload_ext", "inspector")
    made.user_ns.pop("client")


def test_the_magics_ask_the_workers(shell: Any, client: Any) -> None:
    shell.user_ns["future"] = client.submit(bytes, 1000, key="by-magic")
    shell.user_ns["future"].result()
    table = shell.run_line_magic("inspect", "--on client")
    assert [one.answer for one in table.cluster_keys.workers] == ["answered"] * 2
    card = shell.run_line_magic("inspect", "--on client future")
    assert card.object.type_name == "bytes" and card.object.length == 1000
    shell.run_cell("import numpy as np")
    shell.run_cell("def turned(n):\n    return np.ascontiguousarray(np.ones((n, 9)).T).sum()")
    traced = "total = client.submit(turned, 100_000).result()\n"
    shell.run_cell_magic("inspect_trace", "--on client -m numpy", traced)
    assert shell.user_ns["total"] == 900_000
    shell.user_ns.pop("future")


def traced(script: Path, text: str, address: str) -> subprocess.CompletedProcess[str]:
    """The program that traces the workers of a script's scheduler."""
    script.write_text(text)
    command = [sys.executable, "-P", "-m", "inspector", "trace", "--scheduler", address, "--of", "numpy"]
    return subprocess.run([*command, str(script)], capture_output=True, text=True, timeout=100)


def test_the_terminal_traces_the_workers_of_a_script(cluster: Any, client: Any, tmp_path: Path) -> None:
    address = cluster.scheduler_address
    ran = traced(tmp_path / "script.py", textwrap.dedent(SCRIPT).format(address=address), address)
    assert ran.returncode == 0, ran.stderr
    assert "(10, 100000)" in ran.stdout and "turned" in ran.stdout and "8.0 MB" in ran.stdout


@pytest.mark.parametrize("address", ["nonsense://x", "tcp://127.0.0.1:1"])
def test_a_scheduler_that_is_not_there_is_one_sentence(tmp_path: Path, address: str) -> None:
    ran = traced(tmp_path / "script.py", "print('not run')", address)
    assert ran.returncode == 2 and "not run" not in ran.stdout
    assert "no scheduler answers" in ran.stderr and "Traceback" not in ran.stderr
