"""Inside gdb: the lines of a source file around one of them."""

# SPDX-License-Identifier: MIT
from pathlib import Path
from typing import Final

LARGEST_BYTES: Final = 8 << 20
BESIDE: Final = 2
"""Lines before it and after it."""


def around(path: str, number: int) -> tuple[tuple[int, str], ...]:
    """Numbers and texts of the lines around one; () where the file is not at hand, or too large."""
    try:
        if Path(path).stat().st_size > LARGEST_BYTES:
            return ()
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    first = max(number - BESIDE, 1)
    return tuple(enumerate(lines[first - 1 : number + BESIDE], first)) if 0 < number <= len(lines) else ()
