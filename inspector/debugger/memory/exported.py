"""The functions that a mapped library exports, by its file: no other library is asked for a name."""

# SPDX-License-Identifier: MIT
import mmap
import struct
from pathlib import Path
from typing import Final

from inspector.debugger.memory import proc

_SECTIONS, _COUNT = 0x28, 0x3A  # Elf64_Ehdr: e_shoff; e_shentsize and e_shnum
_SECTION: Final = struct.Struct("<4xIQQQQI")  # Elf64_Shdr: type, flags, address, offset, size, link
_SYMBOL: Final = struct.Struct("<IBBHQQ")  # Elf64_Sym: name, info, other, section, value, size
_DYNSYM: Final = 11
_FUNCTION: Final = 2


def exported(pid: int, path: str) -> dict[str, int]:
    """Name as the linker has it -> address in the process; {} for what is no ELF file of 64 bits."""
    base = next((row[0] for row in proc.maps(pid) if row[5] == path and not row[3]), 0)
    try:
        with (
            Path(proc.mapped_file(pid, path)).open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as elf,
        ):
            return {name: base + value for name, value in _functions(elf)} if base else {}
    except (OSError, ValueError, struct.error):
        return {}


def _functions(elf: mmap.mmap) -> list[tuple[str, int]]:
    (start,), (size, count) = (
        struct.unpack_from("<Q", elf, _SECTIONS),
        struct.unpack_from("<HH", elf, _COUNT),
    )
    sections = [_SECTION.unpack_from(elf, start + size * i) for i in range(count)]
    found = []
    for kind, _, _, at, length, link in sections:
        names = sections[link][3] if kind == _DYNSYM else 0
        for name, info, _, section, value, _ in _SYMBOL.iter_unpack(elf[at : at + length]) if names else ():
            if section and info & 15 == _FUNCTION:
                first = names + name
                found.append((elf[first : elf.find(b"\0", first)].decode(), value))
    return found
