"""Memory that was reserved only: what a call without a hook writes into it is not told as no bytes."""

# SPDX-License-Identifier: MIT
import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector

pytestmark = [pytest.mark.core]
FRESH = 1 << 26
"""Bytes: malloc maps a block of more than 32 MB anew, and none of its pages is in memory (mallopt(3))."""


def row_of(trace: Any, text: str) -> Any:
    return next((one for one in trace.statements.rows if text in one.site.text), None)


def test_what_wrote_memory_that_was_not_there_is_unknown() -> None:
    fill = ctypes.CDLL(None).memset
    out = np.empty(FRESH, "u1")
    place = ctypes.c_void_p(out.ctypes.data)
    with inspector.trace("ctypes") as t:
        fill(place, 1, out.nbytes)
    row = row_of(t, "fill(place")
    assert out.all() and row.verdict == "unknown" and "not there before" in row.reason


def test_reading_it_wrote_nothing(tmp_path: Path) -> None:
    zeros = np.zeros(FRESH, "u1")
    np.save(tmp_path / "ones.npy", np.ones(FRESH, "u1"))
    file: Any = np.load(tmp_path / "ones.npy", mmap_mode="r")
    with inspector.trace("numpy") as t:
        print(zeros.sum(), file.sum())
    row = row_of(t, "print(zeros")
    assert row is None or row.verdict == "no bytes"
