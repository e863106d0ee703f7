"""The line that a walk over the heap writes on a terminal, and takes away."""

# SPDX-License-Identifier: MIT
import contextlib
import os
import pty
import sys

import pytest

from inspector import api
from inspector.faces.cli import progress

pytestmark = pytest.mark.core


def test_a_walk_says_on_a_terminal_how_far_it_is_and_leaves_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[number] for number in range(100_000)]
    ours, theirs = pty.openpty()
    try:
        with os.fdopen(theirs, "w") as terminal:
            monkeypatch.setattr(sys, "stderr", terminal)
            monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
            with progress.walks():
                assert api.heap().objects > len(rows)
        said = b""
        with contextlib.suppress(OSError):  # EIO: all is read that was written before the terminal was closed
            while part := os.read(ours, 10_000):
                said += part
    finally:
        os.close(ours)
    assert said.startswith(b"\r visited 0.") and said.endswith(b"\r\x1b[K")


def test_without_a_terminal_nothing_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    with progress.walks():
        api.heap()
    assert capfd.readouterr().err == ""
