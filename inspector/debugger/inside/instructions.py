"""Inside gdb: instructions around an address, as the protocol's DisassembledInstruction."""

# SPDX-License-Identifier: MIT
import re
from typing import Any, Final

import gdb

COUNT_MAX: Final = 2000
_LONGEST: Final = 15
"""Bytes of an instruction of x86-64."""
_OFFSET: Final = re.compile(r" \+ (\d+) in ")


def around(address: int, offset: int, count: int) -> list[dict[str, Any]]:
    """`count` instructions from the `offset`-th after `address` on; before the function nothing is known."""
    count = min(count, COUNT_MAX)
    before = _before(address) if offset < 0 else []
    after = _read(address, max(offset + count, 1))
    rows = [*before, *after]
    first = len(before) + offset
    unknown = [{"address": f"{max(address - 1, 0):#x}", "instruction": "?", "presentationHint": "invalid"}]
    return unknown * min(max(-first, 0), count) + rows[max(first, 0) : max(first + count, 0)]


def _before(address: int) -> list[dict[str, Any]]:
    """From the beginning of the function to an address: instructions cannot be read backwards."""
    said = gdb.execute(f"info symbol {address:#x}", to_string=True)
    found = _OFFSET.search(said)
    start = address - int(found[1]) if found else address
    return [one for one in _read(start, COUNT_MAX, address) if int(one["address"], 16) < address]


def _read(start: int, count: int, end: int = 0) -> list[dict[str, Any]]:
    architecture = gdb.selected_inferior().architecture()
    try:
        read = architecture.disassemble(start, *((end,) if end else (start + count * _LONGEST,)), count=count)
    except (gdb.error, MemoryError):
        read = []
    return [_row(one) for one in read]


def _row(one: Any) -> dict[str, Any]:
    address = int(one["addr"])
    raw = bytes(gdb.selected_inferior().read_memory(address, one["length"]))
    row = {"address": f"{address:#x}", "instruction": one["asm"], "instructionBytes": raw.hex(" ")}
    where = gdb.find_pc_line(address)
    if where.symtab is not None and where.line:
        row |= {
            "line": where.line,
            "location": {"name": where.symtab.filename, "path": where.symtab.fullname()},
        }
    return row
