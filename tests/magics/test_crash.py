"""`%inspect_crash`: refusals as one quiet block; what it draws is test_crash.py's of the debugger."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
from pathlib import Path

import pytest
from debugged import library, until
from jupyter_client.manager import start_new_kernel


def shown(run, cell: str) -> str:
    _, displayed = run(cell)
    return "\n".join(bundle["text/plain"] for bundle in displayed)


def test_without_a_crash_it_says_so(run, tmp_path) -> None:
    assert "no crash was named" in shown(run, "%inspect_crash")
    assert "no trace was kept" in shown(run, f"%inspect_crash {tmp_path}")
    assert "No closing quotation" in shown(run, "%inspect_crash 'a")


DIES = """
import importlib.machinery, importlib.util, inspector, sys
loader = importlib.machinery.ExtensionFileLoader("probing", {path!r})
probing = importlib.util.module_from_spec(importlib.util.spec_from_loader("probing", loader))
loader.exec_module(probing)
sys.modules["probing"] = probing
with inspector.trace("probing", keep={folder!r}):
    for n in range(70): probing.probe(n)
    probing.crash()
"""


@pytest.mark.debugger
def test_after_a_restart_the_kernel_tells_what_the_last_one_died_after(tmp_path: Path) -> None:
    """A real kernel dies of SIGSEGV in a cell, is restarted as a notebook does it, and reads the rings."""
    folder = str(tmp_path / "kept")
    environment = os.environ | {"IPYTHONDIR": str(tmp_path)}
    manager, client = start_new_kernel(startup_timeout=120, cwd=str(tmp_path), env=environment)
    try:
        client.execute(DIES.format(path=str(library()), folder=folder))
        until(lambda: not manager.is_alive())
        manager.restart_kernel(now=True)
        client.wait_for_ready(timeout=120)
        sent: list[dict] = []
        cell = f"%load_ext inspector\n%inspect_crash {folder}"
        client.execute_interactive(cell, output_hook=sent.append, timeout=120)
        said = "".join(one["content"]["data"]["text/plain"] for one in sent if "data" in one["content"])
        assert "100 calls before it" in said and "PyLong_AsLong" in said and " 69 " in said, said
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
