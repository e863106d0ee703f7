"""Verdicts with their sentences, and with the text of the native source where it is at hand."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspector.facts.leaks import Leaks, Touch
from inspector.verdicts.leak_words import leak_answers, told

if TYPE_CHECKING:
    from inspector.report import Report

LARGEST_SOURCE_BYTES: Final = 8 << 20
"""A larger source file is not read (Cython writes some MB)."""


def with_words(fact: Leaks) -> Leaks:
    """The fact whose verdicts have their sentences and lines."""
    paths = {touch.path for one in fact.verdicts for touch in one.stack}
    paths |= {one.conversion.path for one in fact.verdicts if isinstance(one.conversion, Touch)}
    texts = {path: _lines(Path(path)) for path in sorted(paths - {""})}
    return told(fact, {path: lines for path, lines in texts.items() if lines})


def report(name: str, fact: Leaks) -> Report:
    """The report of a fact: its first answers, then its verdicts."""
    from inspector.report import Report

    return Report(name, {"answers": leak_answers(fact), "leaks": fact})


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > LARGEST_SOURCE_BYTES:
            return []
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
