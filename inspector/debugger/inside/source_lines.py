"""Inside gdb: the lines of a source file around one of them, and the files that lines are known of."""

# SPDX-License-Identifier: MIT
from pathlib import Path
from typing import Final

import gdb

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


def sources(left_out: str) -> list[str]:
    """The files on this machine of all loaded code with lines, without those of one library."""
    found: dict[str, None] = {}
    library = ""
    for line in gdb.execute("info sources", to_string=True).splitlines():
        if line.endswith(":") and line.startswith("/"):
            library = line[:-1]
        elif line.startswith("/") and library != left_out:
            found |= dict.fromkeys(line.split(", "))
    return [one for one in found if Path(one).is_file()]
