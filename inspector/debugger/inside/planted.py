"""Inside gdb: write the addresses of breakpoints into the guard's table (native/watch/breakpoint_guard.c).

gdb sets breakpoints of its own in the program too (for loaded libraries, for throw);
`maintenance info breakpoints` lists them all.
"""

# SPDX-License-Identifier: MIT
import re
import struct

import gdb

_ADDRESS = re.compile(r"\b0x[0-9a-f]{8,16}\b")


def guard() -> tuple[int, int]:
    """The address and number of rows of the table of a guard that the process has armed; (0, 0) for none."""
    try:
        at = int(gdb.parse_and_eval("(unsigned long)&inspector_guard"))
        rows = int.from_bytes(bytes(gdb.selected_inferior().read_memory(at, 8)), "little")
    except (gdb.error, RuntimeError):
        return 0, 0
    return (at + 8, rows) if rows else (0, 0)


class Planted:
    """The guard's table: a count, the word of traps_watch, then rows of (address, byte), 8 bytes each."""

    def __init__(self, table: int = 0, rows: int = 0) -> None:
        self._table, self._rows = table, rows
        self._known: dict[int, int] = {}

    def __bool__(self) -> bool:
        """Whether the process has a guard."""
        return bool(self._table)

    def tell(self) -> None:
        """Add new addresses to the table: writes the row first, then the count."""
        if not self._table:
            return
        inferior = gdb.selected_inferior()
        printed = gdb.execute("maintenance info breakpoints", to_string=True)
        for address in sorted({int(word, 16) for word in _ADDRESS.findall(printed)} - set(self._known)):
            if len(self._known) >= self._rows:
                return
            try:
                byte = bytes(inferior.read_memory(address, 1))[0]  # gdb returns the byte under its int3
            except gdb.error:
                continue
            row = self._table + 16 + 16 * len(self._known)
            inferior.write_memory(row, struct.pack("<QQ", address, byte))
            self._known[address] = byte
            inferior.write_memory(self._table, struct.pack("<Q", len(self._known)))

    def forget(self) -> None:
        """Empty the table."""
        if self._table:
            gdb.selected_inferior().write_memory(self._table, struct.pack("<Q", 0))
