"""Which unnamed code of a stripped interpreter is its evaluation loop.

A compiler moves what it takes for rare out of a function, and the loop's symbol names the rest: in Debian's
3.14 that is 1 kB of 85. The part that was moved has an entry of its own in the unwind table (.eh_frame_hdr),
and the jumps that leave the function lead there.
"""

# SPDX-License-Identifier: MIT
import struct
from bisect import bisect_right
from collections import Counter
from typing import Final

from inspector.debugger.memory import proc
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable

LOOP: Final = "_PyEval_EvalFrameDefault"
_LOAD, _UNWIND_TABLE = 1, 0x6474E550
_ENCODINGS: Final = (
    b"\x01\x1b\x03\x3b"  # of the version every linker writes: a sorted table of two ints a row
)
_JUMPS_LEAST: Final = 8
_FUNCTION_MAX: Final = 1 << 20
_ROWS_MAX: Final = 1 << 20


class LoopParts:
    """The parts of the evaluation loop at one address of a process; none where they cannot be told."""

    def __init__(self, memory: RemoteMemory, loop: int) -> None:
        self.parts: tuple[range, ...] = ()
        """The function itself, and what was moved out of it."""
        try:
            self.parts = _parts(memory, loop)
        except (Unreadable, struct.error, OSError, StopIteration):
            return

    def has(self, address: int) -> bool:
        """Whether the loop's code is at this address."""
        return any(address in part for part in self.parts)


def _parts(memory: RemoteMemory, loop: int) -> tuple[range, ...]:
    table, rows = _table(memory, loop)
    starts = [table + where for where, _ in rows]

    def function(address: int) -> range:
        """What the unwind table has around an address."""
        at = bisect_right(starts, address) - 1
        size = struct.unpack("<IIiI", memory.read(table + rows[at][1], 16))[3] if at >= 0 else 0
        return range(starts[at], starts[at] + size)

    own = function(loop)
    if own.start != loop or len(own) > _FUNCTION_MAX:
        return ()
    led = [to for to in _jumps(memory.read(loop, len(own)), loop) if to not in own]
    begun = Counter(starts[max(bisect_right(starts, to) - 1, 0)] for to in led)
    for start, _ in begun.most_common(1):
        moved = function(start)
        jumps = sum(to in moved for to in led)
        if jumps >= _JUMPS_LEAST and jumps * 2 > len(led):
            return own, moved
    return (own,)


def _jumps(code: bytes, at: int) -> list[int]:
    """Where `jmp` and `jcc` with four bytes of distance lead; other bytes that look so are few."""
    found = []
    for n in range(len(code) - 6):
        if code[n] == 0xE9:
            found.append(at + n + 5 + struct.unpack_from("<i", code, n + 1)[0])
        elif code[n] == 0x0F and code[n + 1] & 0xF0 == 0x80:
            found.append(at + n + 6 + struct.unpack_from("<i", code, n + 2)[0])
    return found


def _table(memory: RemoteMemory, address: int) -> tuple[int, list[tuple[int, int]]]:
    """The address of the file's unwind table, and its rows: function and entry, from that address."""
    file = next(row for row in proc.maps(memory.pid) if row[0] <= address < row[1])[5]
    base = min(row[0] for row in proc.maps(memory.pid) if row[5] == file)
    head = memory.read(base, 64)
    programs, count = struct.unpack_from("<Q", head, 32)[0], struct.unpack_from("<H", head, 56)[0]
    parts = [struct.unpack("<IIQQQQQQ", memory.read(base + programs + 56 * n, 56)) for n in range(count)]
    moved = base - (min(part[3] for part in parts if part[0] == _LOAD) & ~4095)
    table = moved + next(part[3] for part in parts if part[0] == _UNWIND_TABLE)
    encodings, _, rows = struct.unpack("<4siI", memory.read(table, 12))
    if encodings != _ENCODINGS or rows > _ROWS_MAX:
        return table, []
    return table, list(struct.iter_unpack("<ii", memory.read(table + 12, rows * 8)))
