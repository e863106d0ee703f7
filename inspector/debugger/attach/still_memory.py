"""The memory of a stopped process: caches pages, and brings no page into memory.

A page that the process has never touched has the content of its file, or zeros. It is read from there, so
that the process gets no new page (Documentation/admin-guide/mm/pagemap.rst).
"""

# SPDX-License-Identifier: MIT
import os
from bisect import bisect_right
from pathlib import Path
from typing import Final

from inspector.debugger.memory import proc
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable

_PAGE: Final = 4096
_PAGES_MAX: Final = 16_384
"""Pages that are cached: 64 MB."""


class StillMemory(RemoteMemory):
    """Valid only until the process is resumed."""

    def __init__(self, pid: int) -> None:
        super().__init__(pid)
        self._pages: dict[int, bytes] = {}
        self._pagemap = os.open(f"/proc/{pid}/pagemap", os.O_RDONLY | os.O_CLOEXEC)
        self._rows = sorted(_mappings(pid))

    def read(self, address: int, size: int) -> bytes:
        """Exactly `size` bytes; raises Unreadable."""
        first, last = address // _PAGE, (address + max(size, 1) - 1) // _PAGE
        if not 0 < first <= last < 1 << 36 or last - first > _PAGES_MAX:
            raise Unreadable(f"{address:#x}")
        read = b"".join(self._page(page) for page in range(first, last + 1))
        start = address - first * _PAGE
        return read[start : start + size]

    def close(self) -> None:
        """Close the files."""
        os.close(self._pagemap)
        super().close()

    def _page(self, page: int) -> bytes:
        if page not in self._pages:
            if len(self._pages) >= _PAGES_MAX:
                self._pages.clear()
            self._pages[page] = self._read_page(page)
        return self._pages[page]

    def _read_page(self, page: int) -> bytes:
        entry = os.pread(self._pagemap, 8, page * 8)
        if len(entry) == 8 and not entry[7] >> 6:  # neither in memory nor in swap
            return self._untouched(page * _PAGE)
        return super().read(page * _PAGE, _PAGE)

    def _untouched(self, address: int) -> bytes:
        at = bisect_right(self._rows, (address, 1 << 64)) - 1
        if at < 0 or address >= self._rows[at][1]:
            raise Unreadable(f"{address:#x}")
        start, _, offset, private, path = self._rows[at]
        if private and not path:
            return bytes(_PAGE)
        if path.startswith("/") and not path.endswith(" (deleted)"):
            try:
                with Path(proc.mapped_file(self.pid, path)).open("rb") as file:
                    return os.pread(file.fileno(), _PAGE, offset + address - start).ljust(_PAGE, b"\0")
            except OSError:
                pass
        return super().read(address, _PAGE)


def _mappings(pid: int) -> list[tuple[int, int, int, bool, str]]:
    """(start, stop, file offset, whether private, path or "") of readable mappings."""
    return [
        (start, stop, offset, permissions[3] == "p", path if inode != "0" else "")
        for start, stop, permissions, offset, inode, path in proc.maps(pid)
        if permissions[0] == "r"
    ]
