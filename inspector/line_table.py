"""Source lines of native code: the DWARF lines of a file, read once, bounded in bytes and in time.

Code that was inlined from a header (Py_DECREF) is told by the line that called it.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from inspector.facts.unknown import Unknown

TABLE_BYTES_MAX: Final = 16 << 20
"""Files with larger line tables are not read."""
READ_SECONDS_MAX: Final = 2.0
"""Of this thread: a busy machine reads no fewer lines."""
_NONE = Unknown("no debug information: compile with -g")

Inlined = tuple[int, int, str, int]
"""Start and stop of code that was inlined, file and line of the call."""
Lines = tuple[list[int], list[tuple[str, int] | None], list[Inlined]]
"""Addresses in order, what begins at each (None: a sequence ended there), and what was inlined."""


def source_line(library: str, address: int, *, begins: bool = False) -> str | Unknown:
    """ "heldmod.c:14" for an address of the file `library`; Unknown without debug information (DWARF).

    `begins`: a function begins there; of several rows for the address the first is its own line.
    """
    table = _lines(library)
    if isinstance(table, Unknown):
        return table
    starts, places, inlined = table
    at = bisect_right(starts, address) - 1
    if begins and at >= 0:
        at = bisect_left(starts, starts[at])
    found = places[at] if at >= 0 else None
    if found and found[0].endswith((".h", ".hpp")):
        called = [row for row in inlined if row[0] <= address < row[1]]
        found = max(called, key=lambda row: row[1] - row[0])[2:] if called else found
    return f"{found[0]}:{found[1]}" if found else Unknown("no line is told for this address")


@lru_cache(64)
def _lines(library: str) -> Lines | Unknown:
    from elftools.common.exceptions import DWARFError, ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with open(library, "rb") as stream:  # noqa: PTH123 - read and closed here
            elf = ELFFile(stream)
            section = elf.get_section_by_name(".debug_line")
            if section is None:
                return _NONE
            if section["sh_size"] > TABLE_BYTES_MAX:
                return Unknown(f"line table of {section['sh_size'] / 1e6:.0f} MB: not read")
            return _rows(elf.get_dwarf_info())
    except (OSError, ELFError, DWARFError, KeyError, ValueError) as error:
        return Unknown(f"no lines: {error}")


def _rows(dwarf: Any) -> Lines | Unknown:
    deadline = time.thread_time() + READ_SECONDS_MAX
    rows: list[tuple[int, int, tuple[str, int] | None]] = []
    inlined: list[Inlined] = []
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        names = _names(program)
        for entry in program.get_entries():
            state = entry.state
            if state is not None:
                place = None if state.end_sequence else (names.get(state.file, "?"), state.line)
                rows.append((state.address, not state.end_sequence, place))
        inlined += _inlined(dwarf, unit, names)
        if time.thread_time() > deadline:
            return Unknown(f"line table not read within {READ_SECONDS_MAX:g} s")
    rows.sort(key=lambda row: row[:2])
    return [row[0] for row in rows], [row[2] for row in rows], inlined


def _names(program: Any) -> dict[int, str]:
    """Number of a file -> its name without folders; numbers begin with 1 up to DWARF 4, with 0 in DWARF 5."""
    first = 0 if program.header["version"] >= 5 else 1
    entries = program.header["file_entry"]
    return {
        number: entry.name.decode("utf-8", "replace").rpartition("/")[2]
        for number, entry in enumerate(entries, first)
    }


def _inlined(dwarf: Any, unit: Any, names: dict[int, str]) -> Iterator[Inlined]:
    for die in unit.iter_DIEs():
        if die.tag == "DW_TAG_inlined_subroutine" and "DW_AT_call_line" in die.attributes:
            file = names.get(die.attributes["DW_AT_call_file"].value, "?")
            for start, stop in _ranges(dwarf, unit, die):
                yield start, stop, file, die.attributes["DW_AT_call_line"].value


def _ranges(dwarf: Any, unit: Any, die: Any) -> Iterator[tuple[int, int]]:
    if "DW_AT_low_pc" in die.attributes and "DW_AT_high_pc" in die.attributes:
        low, high = die.attributes["DW_AT_low_pc"].value, die.attributes["DW_AT_high_pc"]
        yield low, high.value if high.form == "DW_FORM_addr" else low + high.value
    elif "DW_AT_ranges" in die.attributes:
        base = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
        start = base.value if base else 0
        lists = dwarf.range_lists()
        for entry in lists.get_range_list_at_offset(die.attributes["DW_AT_ranges"].value, cu=unit):
            if not hasattr(entry, "begin_offset"):
                start = entry.base_address
                continue
            shift = 0 if getattr(entry, "is_absolute", False) else start
            yield entry.begin_offset + shift, entry.end_offset + shift
