"""Source lines of native code: the DWARF lines of a file, read a unit at a time, bounded in bytes.

Code that was inlined from a header (Py_DECREF, pybind11's `object.attr`) gets the line of the
source that called it; calls between headers have no line of their own.
"""

# SPDX-License-Identifier: MIT
from bisect import bisect_left, bisect_right
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Final

from inspector.binaries.cython_lines import cython_line
from inspector.binaries.inlined_calls import inlined_calls, ranges_of, template_types
from inspector.binaries.line_program import rows_of
from inspector.facts.unknown import Unknown

TABLE_BYTES_MAX: Final = 16 << 20
"""Files with larger line tables are not read."""
_NONE: Final = Unknown("no debug information: compile with -g")
_NO_LINE: Final = Unknown("no line is told for this address")
_HEADERS: Final = ("", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tcc")
Place = tuple[str, int]
"""File without its folders, and line."""
_Span = tuple[int, int, int]
"""Start and stop of code, and the offset of its unit."""


def source_line(library: str, address: int, *, begins: bool = False) -> str | Unknown:
    """ "heldmod.c:14" for an address of the file `library`; Unknown without debug information (DWARF).

    For C that Cython wrote, while it is there: "heldmod.pyx:3 (heldmod.c:2345)".

    `begins`: a function begins there; of several rows for the address the first is its own line. A
    header's template instantiated for a lambda gets the lambda's line.
    """
    from elftools.common.exceptions import DWARFError, ELFError

    try:
        dwarf = _dwarf(library)
        if isinstance(dwarf, Unknown):
            return dwarf
        unit = _unit(library, dwarf, address)
        found = _place(dwarf, unit, address, begins) if unit is not None else None
    except (OSError, ELFError, DWARFError, KeyError, IndexError, ValueError) as error:
        return Unknown(f"no lines: {error}")
    return _said(library, dwarf, unit, found) if found else _NO_LINE


def source_lines(library: str, address: int) -> tuple[Place, ...]:
    """(path, line) of an address and of each call inlined there, innermost first; of sources at hand."""
    from elftools.common.exceptions import DWARFError, ELFError

    try:
        dwarf = _dwarf(library)
        unit = None if isinstance(dwarf, Unknown) else _unit(library, dwarf, address)
        if unit is None:
            return ()
        starts, numbered, names = _rows(dwarf, unit)
        row = numbered[max(bisect_right(starts, address) - 1, 0)] if starts else None
        if row is None:
            return ()
        found = [row[:2], *inlined_calls(dwarf, unit, address)]
        named = [(source_file(library, address, names.get(file, "")), line) for file, line in found]
        return tuple(one for one in named if all(one))  # line 0: made by the compiler
    except (OSError, ELFError, DWARFError, KeyError, IndexError, ValueError):
        return ()


def source_file(library: str, address: int, name: str) -> str:
    """The path of the file `name` that has the line of an address; "" if it is gone, or was changed since."""
    from elftools.common.exceptions import DWARFError, ELFError

    try:
        dwarf = _dwarf(library)
        unit = None if isinstance(dwarf, Unknown) else _unit(library, dwarf, address)
        if unit is None:
            return ""
        built = Path(library).stat().st_mtime_ns
        files = (*_paths(dwarf, unit, name), Path(library).with_name(name))
        return next((str(one) for one in files if one.is_file() and one.stat().st_mtime_ns <= built), "")
    except (OSError, ELFError, DWARFError, KeyError, IndexError, ValueError):
        return ""


def _said(library: str, dwarf: Any, unit: Any, found: Place) -> str:
    """ "heldmod.c:14"; where Cython wrote the C, and it is there: "heldmod.pyx:3 (heldmod.c:2345)"."""
    said = f"{found[0]}:{found[1]}"
    if PurePosixPath(found[0]).suffix not in (".c", ".cpp"):
        return said
    try:
        files = (*_paths(dwarf, unit, found[0]), Path(library).with_name(found[0]))
        written = cython_line(files, found[1], Path(library).stat().st_mtime_ns)
    except (OSError, IndexError, KeyError):
        return said
    return f"{written} ({said})" if written else said


@lru_cache(1 << 12)
def _place(dwarf: Any, unit: Any, address: int, begins: bool) -> Place | None:
    starts, numbered, names = _rows(dwarf, unit)
    at = bisect_right(starts, address) - 1
    if begins and at >= 0:
        at = bisect_left(starts, starts[at])
    row = numbered[at] if at >= 0 else None
    if row is None:
        return None
    found = names.get(row[0], "?"), row[1]
    if not _in_header(found):
        return found
    inside = list(template_types(dwarf, unit, address)) if begins else []
    inside += inlined_calls(dwarf, unit, address)
    called = [(names.get(file, "?"), line) for file, line in inside]
    return next((one for one in called if not _in_header(one)), called[-1] if called else found)


def _in_header(place: Place) -> bool:
    return PurePosixPath(place[0]).suffix in _HEADERS


def _read(library: str) -> Any:
    from elftools.elf.elffile import ELFFile

    with open(library, "rb") as stream:  # noqa: PTH123 - read and closed here
        elf = ELFFile(stream)
        section = elf.get_section_by_name(".debug_line")
        if section is None:
            return _NONE
        if section["sh_size"] > TABLE_BYTES_MAX:
            return Unknown(f"line table of {section['sh_size'] / 1e6:.0f} MB: not read")
        return elf.get_dwarf_info()


_dwarf: Final = lru_cache(8)(_read)


def _unit(library: str, dwarf: Any, address: int) -> Any:
    for units in (_listed, _units):
        rows = units(library)
        at = bisect_right(rows, address, key=lambda row: row[0]) - 1
        if at >= 0 and address < rows[at][1]:
            return dwarf.get_CU_at(rows[at][2])
    return None


@lru_cache(8)
def _listed(library: str) -> list[_Span]:
    """What the file's own list of ranges says, which compilers may leave out."""
    listed = _read(library).get_aranges()
    rows = listed.entries if listed is not None else ()
    spans = ((row.begin_addr, row.begin_addr + row.length, row.info_offset) for row in rows)
    return sorted(span for span in spans if span[0])  # 0: code that the linker dropped


@lru_cache(8)
def _units(library: str) -> list[_Span]:
    """Sorted ranges of all units. elftools keeps an object for each word of a unit that it read: 150,000 of
    libpython, which each collection would visit. So they are read apart, and dropped."""
    dwarf = _read(library)
    return sorted(
        (*span, unit.cu_offset)
        for unit in dwarf.iter_CUs()
        for span in ranges_of(dwarf, unit, unit.get_top_DIE())
    )


@lru_cache(64)
def _rows(dwarf: Any, unit: Any) -> tuple[list[int], list[tuple[int, int] | None], dict[int, str]]:
    """Addresses in order, the row of each (None: a sequence ends there), names of files by number."""
    program = dwarf.line_program_for_CU(unit)
    if program is None:
        return [], [], {}
    rows = rows_of(program)
    return [row[0] for row in rows], [row[2] for row in rows], _names(program)


def _names(program: Any) -> dict[int, str]:
    """Number of a file -> its name without folders; numbers begin with 1 up to DWARF 4, with 0 in DWARF 5."""
    first = 0 if program.header["version"] >= 5 else 1
    entries = program.header["file_entry"]
    return {
        number: entry.name.decode("utf-8", "replace").rpartition("/")[2]
        for number, entry in enumerate(entries, first)
    }


@lru_cache(64)
def _paths(dwarf: Any, unit: Any, name: str) -> tuple[Path, ...]:
    """Paths of files of that name when the unit was compiled."""
    header = dwarf.line_program_for_CU(unit).header
    folders = [one.decode("utf-8", "replace") for one in header["include_directory"]]
    if header["version"] < 5:
        folders.insert(0, "")
    made_in = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
    home = Path(made_in.value.decode("utf-8", "replace") if made_in else "/")
    named = [(entry.dir_index, entry.name.decode("utf-8", "replace")) for entry in header["file_entry"]]
    return tuple(home / folders[at] / path for at, path in named if path.rpartition("/")[2] == name)
