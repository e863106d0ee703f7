"""The functions that an object file defines, with the types of their arguments, from its debug information.

DWARF (https://dwarfstd.org, sections 3.3 and 5) is read by pyelftools: what the compiler understood needs no
parser of ours, and a macro or a typedef cannot mislead it.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

OBJECT, ARRAY, TEXT, VOID = "PyObject *", "PyArrayObject *", "const char *", "void"
_STRUCTS: Final = {"_object": OBJECT, "tagPyArrayObject_fields": ARRAY, "tagPyArrayObject": ARRAY}
_NAMED: Final = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A name and a C type, typedefs resolved: "double *", "PyObject *"; unknown pointers are "void *"."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Prototype:
    """One function with external linkage."""

    name: str
    result: str
    parameters: tuple[Parameter, ...]

    @property
    def speaks_python(self) -> bool:
        """Whether arguments or result are Python objects: then it is called with the GIL held."""
        types = (self.result, *(one.type for one in self.parameters))
        return OBJECT in types or ARRAY in types

    def __str__(self) -> str:
        inside = ", ".join(f"{one.type} {one.name}".replace("* ", "*") for one in self.parameters)
        return f"{self.result} {self.name}({inside or 'void'})".replace("* ", "*")


def prototypes(path: Path) -> tuple[Prototype, ...]:
    """Functions that the object file at `path` (compiled with -g) defines and exports, by their lines."""
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as file:
        elf = ELFFile(file)
        exported = _exported(elf)
        units = elf.get_dwarf_info().iter_CUs()
        found = [die for unit in units for die in _defined(unit, exported)]
        return tuple(_prototype(die) for die in sorted(found, key=_line))


def _exported(elf: Any) -> frozenset[str]:
    """By the symbol table: debug information has an address for only one of functions with equal code."""
    symbols = elf.get_section_by_name(".symtab").iter_symbols()
    return frozenset(
        one.name
        for one in symbols
        if (one["st_info"]["type"], one["st_info"]["bind"]) == ("STT_FUNC", "STB_GLOBAL")
        and one["st_shndx"] != "SHN_UNDEF"
    )


def _defined(unit: Any, exported: frozenset[str]) -> Iterator[Any]:
    for die in unit.get_top_DIE().iter_children():
        is_function = die.tag == "DW_TAG_subprogram" and "DW_AT_declaration" not in die.attributes
        if is_function and (name := die_name(die)) in exported and not name.startswith("inspector_"):
            yield die


def _prototype(die: Any) -> Prototype:
    inside = [child for child in die.iter_children() if child.tag == "DW_TAG_formal_parameter"]
    parameters = tuple(
        Parameter(die_name(one) or f"argument{number}", die_type(one)) for number, one in enumerate(inside, 1)
    )
    return Prototype(die_name(die), die_type(die), parameters)


def _line(die: Any) -> int:
    found = die.attributes.get("DW_AT_decl_line")
    return found.value if found else 0


def die_name(die: Any) -> str:
    """Its DW_AT_name, or ""."""
    found = die.attributes.get("DW_AT_name")
    return found.value.decode() if found else ""


def die_type(die: Any) -> str:
    """The C type of a die, in the spelling of cffi and the method table."""
    target = resolved(die)
    if target is None:
        return VOID
    if target.tag == "DW_TAG_pointer_type":
        return _pointer(target)
    return die_name(target) if target.tag == "DW_TAG_base_type" else target.tag


def _pointer(pointer: Any) -> str:
    target = resolved(pointer)
    if target is None:
        return "void *"
    if target.tag == "DW_TAG_structure_type":
        return _STRUCTS.get(die_name(target), "void *")
    if target.tag == "DW_TAG_base_type":
        return TEXT if die_name(target) == "char" else f"{die_name(target)} *"
    return "void *"


def resolved(die: Any) -> Any:
    """The type of `die` behind typedefs and qualifiers; None for void."""
    while "DW_AT_type" in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_type")
        if die.tag not in _NAMED:
            return die
    return None
