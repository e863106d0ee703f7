"""Sampled growth inside a process that is attached to: what a visit begins there, and what it left."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from inspector.facts.unknown import Unknown
from inspector.report import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.facts.growth import Growth

_FILE: Final = "growth.json"


def begin(settings: dict[str, Any]) -> Callable[[], None]:
    """In the visited process: sample until the returned function is called, which leaves the report."""
    from inspector.binaries.addresses import library
    from inspector.sessions.growth.block import Grew

    block = Grew(library)  # tables of symbols would take time and memory there
    block.__enter__()

    def end() -> None:
        block.__exit__(None, None, None)
        block.report.save(Path(settings["folder"], _FILE))

    return end


def left(folder: Path) -> Growth | Unknown:
    """What the visited process left."""
    path = folder / _FILE
    if not path.exists():
        return Unknown("the process ended before it could tell")
    growth: Growth = load(path).growth
    return growth
