"""The functions that a library exports, found by its file where a process has mapped it."""

# SPDX-License-Identifier: MIT
import ctypes
import os
from pathlib import Path

import pytest
import specimens

from inspector.debugger.memory.exported import exported

pytestmark = [pytest.mark.debugger, pytest.mark.quick]
C = """
int doubled(int n) { return 2 * n; }
static int hidden(int n) { return n; }
int both(int n) { return doubled(n) + hidden(n); }
"""


def test_the_functions_of_a_library_have_the_addresses_they_are_called_by() -> None:
    path = specimens.library("exporting", C, flags=("-fno-inline",))
    library = ctypes.CDLL(str(path))
    found = exported(os.getpid(), str(path))
    for name in ("doubled", "both"):
        assert found[name] == ctypes.cast(library[name], ctypes.c_void_p).value
    assert "hidden" not in found


def test_what_is_not_mapped_or_no_elf_has_none(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("x" * 100)
    assert exported(os.getpid(), str(tmp_path / "text")) == exported(os.getpid(), "/nowhere") == {}
