"""How often each kind of conversion happened, and for how long, in a file that a killed process leaves whole.

Three words for each number: nanoseconds, calls, times. A write to mapped memory is no system call: a loop of
R's converts one number at a time.
"""

# SPDX-License-Identifier: MIT
import mmap
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROW: Final = struct.Struct("=3Q")
MOST: Final = 4096
"""Numbers that have a place."""


class Counts:
    """The mapped file; it is made with the first count."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._memory: mmap.mmap | None = None

    def add(self, number: int, ns: int, calls: int) -> bool:
        """Count one more of this number; False: it has no place."""
        memory = self._memory or self._made()
        if number >= MOST or memory is None:
            return False
        before = ROW.unpack_from(memory, number * ROW.size)
        ROW.pack_into(memory, number * ROW.size, before[0] + ns, before[1] + calls, before[2] + 1)
        return True

    def _made(self) -> mmap.mmap | None:
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError:
            return None
        try:
            os.posix_fallocate(file, 0, MOST * ROW.size)  # a full disk would end the program later
            self._memory = mmap.mmap(file, MOST * ROW.size)
        except OSError:
            return None
        finally:
            os.close(file)
        return self._memory


def counted(path: Path) -> Iterator[tuple[int, int, int, int]]:
    """(number, nanoseconds, calls, times) of each number that was counted."""
    content = path.read_bytes() if path.exists() else b""
    for number, row in enumerate(ROW.iter_unpack(content)):
        if row[2]:
            yield number, *row
