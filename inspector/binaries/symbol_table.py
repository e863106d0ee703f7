"""The symbols of an ELF file, local ones included: read once a file, bounded in bytes and in time."""

# SPDX-License-Identifier: MIT
import struct
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from inspector.facts.unknown import Unknown

TABLE_BYTES_MAX: Final = 48_000_000
"""Symbol tables larger than this (2 million symbols) are not read."""
READ_SECONDS_MAX: Final = 1.0
"""Reading a table stops after this time."""
BUILD_ID_ROOT: Final = Path("/usr/lib/debug/.build-id")
"""Folder of distributions for the symbols of stripped files (gdb manual, "Separate Debug Files")."""

Answer = TypeVar("Answer")
_SYMBOL = struct.Struct("<IBBHQQ")  # Elf64_Sym: name, info, other, shndx, value, size
_BATCH = 8192
_NAMED_TYPES = frozenset({0, 1, 2, 10})  # STT_NOTYPE, OBJECT, FUNC, GNU_IFUNC
_LOCAL, _GLOBAL, _WEAK = 0, 1, 2


@dataclass(frozen=True, slots=True)
class SymbolTable:
    """Symbols of one file in the order of their addresses (addresses as in the file)."""

    starts: list[int]
    stops: list[int]
    name_offsets: list[int]
    names: bytes
    stripped: bool
    """True if only exported symbols are left."""

    def find(self, address: int) -> tuple[str, int] | None:
        """Name of the symbol that covers `address` (an address of the file), and the distance from it."""
        at = bisect_right(self.starts, address) - 1
        if at < 0 or address >= self.stops[at]:
            return None
        start = self.name_offsets[at]
        name = self.names[start : self.names.index(b"\0", start)]
        return name.decode("utf-8", "replace"), address - self.starts[at]


def symbol_table(path: str) -> SymbolTable | Unknown:
    """The symbols of the ELF file at `path`, or why they are unknown. Reads the file on every call."""
    return _opened(path, "no symbols", lambda file, sections: _table(sections))


def _opened(path: str, without: str, ask: Callable[[Any, dict[str, Any]], Answer]) -> Answer | Unknown:
    """The result of `ask` for a file and its sections; Unknown if it is no supported ELF file."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with Path(path).open("rb") as stream:
            file = ELFFile(stream)
            if file.elfclass != 64 or not file.little_endian:
                return Unknown("not a 64-bit little-endian ELF file")
            return ask(file, {section.name: section for section in file.iter_sections()})
    except (OSError, ELFError) as error:
        return Unknown(f"{without}: {error}")


def _table(sections: dict[str, Any]) -> SymbolTable | Unknown:
    if ".symtab" not in sections and (debug := _debug_file(sections)):
        return symbol_table(debug)
    stripped = ".symtab" not in sections
    symbols = sections.get(".dynsym" if stripped else ".symtab")
    strings = sections.get(".dynstr" if stripped else ".strtab")
    if symbols is None or strings is None:
        return Unknown("stripped: no symbol table in the file")
    if symbols["sh_size"] > TABLE_BYTES_MAX:
        return Unknown(f"symbol table of {symbols['sh_size'] / 1e6:.0f} MB: not read")
    return _sorted_table(symbols.data(), strings.data(), stripped)


def _debug_file(sections: dict[str, Any]) -> str | None:
    """The file with the symbols of a stripped one, by its build-id; None if not installed."""
    note = sections.get(".note.gnu.build-id")
    if note is None:
        return None
    build_id: str = note.data()[16:].hex()
    found = BUILD_ID_ROOT / build_id[:2] / f"{build_id[2:]}.debug"
    return str(found) if found.is_file() else None


def _sorted_table(symbols: bytes, names: bytes, stripped: bool) -> SymbolTable | Unknown:
    deadline = time.monotonic() + READ_SECONDS_MAX
    rows: dict[int, tuple[int, int, int]] = {}  # start -> (rank, size, name offset)
    usable = len(symbols) - len(symbols) % _SYMBOL.size
    step = _BATCH * _SYMBOL.size
    for batch in range(0, usable, step):
        if time.monotonic() > deadline:
            return Unknown(f"symbol table not read within {READ_SECONDS_MAX:g} s")
        for name, kind, _, section, value, size in _SYMBOL.iter_unpack(
            symbols[batch : min(batch + step, usable)]
        ):
            if section and value and name and kind & 15 in _NAMED_TYPES:
                rank = _rank(kind, size)
                if value not in rows or rank < rows[value][0]:
                    rows[value] = (rank, size, name)
    starts = sorted(rows)
    stops = [start + max(rows[start][1], 1) for start in starts]
    return SymbolTable(starts, stops, [rows[start][2] for start in starts], names, stripped)


def _rank(kind: int, size: int) -> int:
    """Sort key of several names of one address: typed before untyped, global before weak and local."""
    bind = kind >> 4
    order = {_GLOBAL: 0, _WEAK: 1, _LOCAL: 2}.get(bind, 3)
    return order + (4 if kind & 15 == 0 else 0) + (8 if size == 0 else 0)


@dataclass(frozen=True, slots=True)
class Elf:
    """Addresses of some names of an ELF file, as in the file."""

    symbols: dict[str, int]
    sections: dict[str, int]
    segments: tuple[tuple[int, int, int], ...]
    """(file offset, bytes in the file, address) of the loaded segments."""

    def address(self, file_offset: int) -> int:
        """The address that a byte of the file is loaded at; the offset itself if it is not loaded."""
        for start, size, address in self.segments:
            if start & ~4095 <= file_offset < start + size:
                return address + file_offset - start
        return file_offset


def elf(path: str, symbols: tuple[str, ...], sections: tuple[str, ...]) -> Elf | Unknown:
    """Addresses of the given exported symbols and sections in the ELF file at `path`, if present."""

    def asked(file: Any, all_sections: dict[str, Any]) -> Elf:
        loaded = tuple(
            (one["p_offset"], one["p_filesz"], one["p_vaddr"])
            for one in file.iter_segments()
            if one["p_type"] == "PT_LOAD"
        )
        where = {name: all_sections[name]["sh_addr"] for name in sections if name in all_sections}
        return Elf(_named(all_sections, symbols), where, loaded)

    return _opened(path, "no ELF file", asked)


def _ends(names: bytes, wanted: bytes) -> Iterator[int]:
    """Possible offsets of a name: linkers also store it as the end of a longer one."""
    at = names.find(wanted)
    while at >= 0:
        yield at
        at = names.find(wanted, at + 1)


def _named(sections: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, int]:
    """Values of exported symbols: the dynamic table, which stripping leaves."""
    if ".dynsym" not in sections or ".dynstr" not in sections:
        return {}
    symbols, names = sections[".dynsym"].data(), sections[".dynstr"].data()
    offsets = {at: name for name in wanted for at in _ends(names, name.encode() + b"\0")}
    return {
        offsets[name]: value
        for name, _, _, section, value, _ in _SYMBOL.iter_unpack(symbols)
        if section and name in offsets
    }
