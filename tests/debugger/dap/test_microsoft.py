"""Microsoft's own client of the protocol debugs both languages: launched and attached."""

# SPDX-License-Identifier: MIT
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import specimens

from inspector.debugger.memory import proc

PACKAGE, VERSION = "@vscode/debugadapter-testsupport", "1.68.0"
pytestmark = [
    pytest.mark.debugger,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not shutil.which("npm"), reason="cannot be installed: npm, which fetches the client"),
]
HERE = Path(__file__).resolve().parent
C = r"""
#include <Python.h>
static PyObject *doubled(PyObject *self, PyObject *n) {
    long i = PyLong_AsLong(n); /* begin */
    return PyLong_FromLong(2 * i);
}
"""
PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
import clientele
def work(n):
    m = clientele.doubled(n)
    return m + 1
print("begun", flush=True)
work(20)
while len(sys.argv) > 2:
    work(20)
    time.sleep(0.01)
"""
CALL = 6
BEGIN = next(n for n, text in enumerate(C.splitlines(), 1) if "/* begin */" in text)
RUNS_S = 200


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of the client's package, fetched by npm."""
    folder = tmp_path_factory.mktemp("npm")
    command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), f"{PACKAGE}@{VERSION}"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return str(folder / "node_modules" / PACKAGE)


@contextlib.contextmanager
def served() -> Iterator[int]:
    """`inspector dap` on a port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [sys.executable, "-P", "-m", "inspector", "dap", "--port", str(port)]
    with subprocess.Popen(command) as adapter:
        try:
            while f":{port:04X} 00000000:0000 0A" not in Path("/proc/net/tcp").read_text():
                assert adapter.poll() is None
                time.sleep(0.05)
            yield port
            assert adapter.wait(20) == 0
        finally:
            adapter.kill()


def driven(client: str, how: str, given: dict[str, Any]) -> dict[str, Any]:
    with served() as port:
        done = subprocess.run(
            ["node", str(HERE / "microsoft.js"), how, str(port), json.dumps(given)],
            env={**os.environ, "TESTSUPPORT": client},
            capture_output=True,
            text=True,
            timeout=RUNS_S,
        )
        assert not done.returncode, done.stderr[-3000:]
    return dict(json.loads(done.stdout))


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Any]:
    library = specimens.library("clientele", C, flags=("-O0",))
    (tmp_path / "program.py").write_text(PROGRAM)
    where = {"program": str(tmp_path / "program.py"), "args": [str(library.parent)], "python": sys.executable}
    return {**where, "c": str(library.parent / "clientele.c"), "call": CALL, "begin": BEGIN, "asked": "n + 1"}


def right(told: dict[str, Any]) -> bool:
    """Whether the stack of both languages, the variables of C and a Python expression are shown."""
    names = [name.partition(" [")[0] for name in told["names"]]
    return (
        names[0] == "doubled" and "work" in names and told["c"]["n"] == "int 20" and told["evaluated"] == "21"
    )


def test_a_launched_program(client: str, given: dict[str, Any]) -> None:
    told = driven(client, "launch", given)
    assert right(told), told


def test_an_attached_program(client: str, given: dict[str, Any]) -> None:
    command = [sys.executable, "-P", given["program"], *given["args"], "forever"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == b"begun\n"
            told = driven(client, "attach", {**given, "pid": child.pid})
            assert right(told), told
            assert proc.alive(child.pid) and not proc.tracer(child.pid)
        finally:
            child.kill()
