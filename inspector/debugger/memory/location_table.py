"""The line of an instruction, from a code object's location table (Objects/locations.md of CPython)."""

# SPDX-License-Identifier: MIT
_NONE, _LONG, _NO_COLUMNS, _ONE_LINE_FIRST = 15, 14, 13, 10


def line_of(table: bytes, first_line: int, offset: int) -> int | None:
    """The line of the instruction at byte `offset` of the bytecode; None where it has no line."""
    at, start, line = 0, 0, first_line
    while at < len(table):
        head = table[at]
        kind, stop = head >> 3 & 15, start + 2 * ((head & 7) + 1)
        at, moved = _entry(table, at + 1, kind)
        line += moved
        if start <= offset < stop:
            return None if kind == _NONE else line
        start = stop
    return None


def _entry(table: bytes, at: int, kind: int) -> tuple[int, int]:
    """(offset of the next entry, line delta of this one)."""
    if kind == _NONE:
        return at, 0
    if kind in (_LONG, _NO_COLUMNS):
        word, at = _varint(table, at)
        if kind == _LONG:
            for _ in range(3):
                _, at = _varint(table, at)
        return at, -(word >> 1) if word & 1 else word >> 1
    if kind >= _ONE_LINE_FIRST:
        return at + 2, kind - _ONE_LINE_FIRST
    return at + 1, 0


def _varint(table: bytes, at: int) -> tuple[int, int]:
    value, shift = table[at] & 63, 6
    while table[at] & 64:
        at += 1
        value |= (table[at] & 63) << shift
        shift += 6
    return value, at + 1
