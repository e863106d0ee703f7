"""Turn an address of native code or static data into a Place: library, symbol, offset."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from inspector import _native
from inspector.facts.native import Place
from inspector.facts.unknown import Address, Unknown

if TYPE_CHECKING:
    from inspector.binaries.symbol_table import SymbolTable

NAME_CHARS = 60


def library(address: int) -> Place:
    """The file that `address` lies in; its symbol is not looked up, which may read megabytes of tables."""
    image = _native.image(address)
    if image is None:
        return Place(Address(address), Unknown("in no loaded file"), Unknown("in no loaded file"), 0)
    return Place(Address(address), image[0] or _program(), Unknown("not looked up"), address - image[2])


def place(address: int) -> Place:
    """The place of `address`: its file by the dynamic linker, its symbol by dladdr(3), else by .symtab.

    An address in no loaded file (a closure made at run time, JIT code, the heap) has an unknown library.
    """
    image = _native.image(address)
    if image is None:
        return Place(Address(address), Unknown("in no loaded file"), Unknown("in no loaded file"), 0)
    path, bias, first, head = image
    library = path or _program()
    found = _symbol(library, address, bias, head)
    if isinstance(found, Unknown):
        return Place(Address(address), library, found, address - first)
    return Place(Address(address), library, readable(found[0]), found[1])


@lru_cache(8192)
def readable(symbol: str) -> str:
    """A C++ symbol by its name alone: "torch::autograd::THPVariable_add"; other symbols as they are.

    Parameters are removed, and template arguments if the name would be longer than 60 characters.
    """
    name = _native.demangle(symbol)
    if name is None:
        return symbol
    name = _without_parameters(name)
    if "operator" not in name:
        name = _without_return_type(name)
        name = _without_template_arguments(name) if len(name) > NAME_CHARS else name
    return name if len(name) <= 2 * NAME_CHARS else f"{name[: 2 * NAME_CHARS - 1]}…"


def _without_parameters(name: str) -> str:
    """Cut the parameters, up to the last closing bracket: "f(int) const" -> "f"."""
    end, depth = name.rfind(")"), 0
    if end < 0 or "::" in name[end:]:
        return name
    for at in range(end, -1, -1):
        depth += (name[at] == ")") - (name[at] == "(")
        if depth == 0:
            return name[:at]
    return name


def _without_return_type(name: str) -> str:
    """The part after the last blank outside brackets: "_object* f<int>" -> "f<int>"."""
    start = depth = 0
    for at, letter in enumerate(name):
        depth += (letter in "<(") - (letter in ">)")
        if letter == " " and depth == 0:
            start = at + 1
    return name[start:]


def _without_template_arguments(name: str) -> str:
    kept, depth = [], 0
    for letter in name:
        depth += letter == "<"
        if depth == 0:
            kept.append(letter)
        elif depth == 1 and letter == ">":
            kept.append("<…>")
        depth -= letter == ">" and depth > 0
    return "".join(kept)


def _program() -> str:
    from pathlib import Path

    return str(Path("/proc/self/exe").resolve())


_tables: dict[tuple[str, bytes], SymbolTable | Unknown] = {}
"""(file, first bytes of its image) -> symbols. Valid as long as that image is loaded."""


def _symbol(library: str, address: int, bias: int, head: bytes) -> tuple[str, int] | Unknown:
    if (library, head) not in _tables:
        if exported := _native.exported(address):
            return exported
        _tables[library, head] = _read(library, head)
    table = _tables[library, head]
    if isinstance(table, Unknown):
        return _native.exported(address) or table
    if found := table.find(address - bias):
        return found
    return Unknown("stripped: local names are gone" if table.stripped else "between symbols")


def _read(library: str, head: bytes) -> SymbolTable | Unknown:
    """The file's symbols, if it still starts like the image in memory (ELF and program headers)."""
    from pathlib import Path

    from inspector.binaries.symbol_table import symbol_table

    try:
        with Path(library).open("rb") as stream:
            if stream.read(len(head)) != head:
                return Unknown("the file was changed after it was loaded")
    except OSError as error:
        return Unknown(f"the file cannot be read: {error.strerror}")
    return symbol_table(library)
