"""Structs of an object file that begin with PyObject_HEAD: the instances of C types, field by field.

CPython's PyObject_HEAD is a member `ob_base` of type PyObject at offset 0 (Include/object.h). Structs of
Python's own headers are left out: only structs that the cell's own lines declare are reported.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from inspector.facts.compiled import CompiledField, CompiledStruct
from inspector.sessions.compiler.prototypes import die_name, die_type, resolved

_OWN_FILES: Final = ("cell", "support")
"""Names of `#line` in text.py."""


def object_structs(path: Path) -> tuple[CompiledStruct, ...]:
    """The structs of the object file at `path`, compiled with -g; a typedef's struct has its name."""
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as file:
        dwarf = ELFFile(file).get_dwarf_info()
        return tuple(one for unit in dwarf.iter_CUs() for one in _of_unit(dwarf, unit))


def _of_unit(dwarf: Any, unit: Any) -> Iterator[CompiledStruct]:
    files = _files(dwarf, unit)
    for die in unit.get_top_DIE().iter_children():
        named = die.tag == "DW_TAG_typedef" or (die.tag == "DW_TAG_structure_type" and die_name(die))
        if not named or files.get(_attribute(die, "DW_AT_decl_file")) not in _OWN_FILES:
            continue
        target = die if die.tag == "DW_TAG_structure_type" else resolved(die)
        if target is None or target.tag != "DW_TAG_structure_type":
            continue
        if die.tag == "DW_TAG_typedef" and die_name(target):
            continue  # reported under its own name
        fields = tuple(_fields(target))
        if fields and fields[0].name == "ob_base":
            yield CompiledStruct(die_name(die), _attribute(target, "DW_AT_byte_size"), fields)


def _fields(struct: Any) -> Iterator[CompiledField]:
    for member in struct.iter_children():
        if member.tag == "DW_TAG_member":
            offset = _attribute(member, "DW_AT_data_member_location")
            yield CompiledField(die_name(member), _type(member), offset, _size(resolved(member)))


def _type(member: Any) -> str:
    target = resolved(member)
    if target is not None and target.tag == "DW_TAG_structure_type":
        return "PyObject" if die_name(target) == "_object" else f"struct {die_name(target)}".strip()
    return die_type(member)


def _size(target: Any) -> int:
    if target is None or target.tag == "DW_TAG_pointer_type":
        return 8
    return _attribute(target, "DW_AT_byte_size")


def _attribute(die: Any, name: str) -> int:
    found = die.attributes.get(name)
    return found.value if found and isinstance(found.value, int) else 0


def _files(dwarf: Any, unit: Any) -> dict[int, str]:
    """Number in DW_AT_decl_file -> name: from 1 up to DWARF 4, from 0 since."""
    program = dwarf.line_program_for_CU(unit)
    rows = program.header["file_entry"] if program is not None else []
    first = 0 if unit["version"] >= 5 else 1
    return {number: row.name.decode().rpartition("/")[2] for number, row in enumerate(rows, first)}
