"""`%inspect_crash` after a restart; what it draws is test_crash.py's of the debugger."""

# SPDX-License-Identifier: MIT
from pathlib import Path

import kernels
import pytest
from debugged import LOAD, library, until

DIES = """
import inspector, sys
probing = sys.modules["probing"] = load({path!r})
with inspector.trace("probing", keep={folder!r}):
    for n in range(70): probing.probe(n)
    probing.crash()
"""


@pytest.mark.debugger
def test_after_a_restart_the_kernel_tells_what_the_last_one_died_after(tmp_path: Path) -> None:
    """A real kernel dies of SIGSEGV in a cell, is restarted as a notebook does it, and reads the rings."""
    folder = str(tmp_path / "kept")
    with kernels.kernel(tmp_path) as (manager, client):
        client.execute(LOAD + DIES.format(path=str(library()), folder=folder))
        until(lambda: not manager.is_alive())
        manager.restart_kernel(now=True)
        client.wait_for_ready(timeout=120)
        said = "".join(kernels.shown(client, f"%load_ext inspector\n%inspect_crash {folder}"))
        assert "100 calls before it" in said and "PyLong_AsLong" in said and " 69 " in said, said
