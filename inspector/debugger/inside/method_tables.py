"""Inside gdb: the C function behind a method of a package, by the PyMethodDef rows in its libraries.

A row (methodobject.h) is name, function, flags. It is found by its name's bytes and by the pointer to them:
this needs no symbols and no import that has finished.
"""

# SPDX-License-Identifier: MIT
import os
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from inspector.debugger.memory import proc
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable

KEYWORDS: Final = 2
NOARGS: Final = 4
FASTCALL: Final = 128
_FLAGS_MAX: Final = 0x400
_NAMES_MAX: Final = 64


_ROW: Final = 32
_SLOT_METHODS: Final = 64
"""Py_tp_methods of typeslots.h: the number before the table's address in a PyType_Spec."""
_NAME_OF_MODULE: Final = -24
_NAME_OF_TYPE: Final = -208
"""From the field with the table's address to the name: PyModuleDef, PyTypeObject (their headers)."""


class Row(NamedTuple):
    """One row of a method table."""

    address: int
    """The C function."""
    flags: int
    """METH_... of methodobject.h."""
    owner: str
    """The type's name; "" for a module's function and where the table's owner is not found."""


def rows(memory: RemoteMemory, dotted: str) -> list[Row]:
    """The rows for package.function or package.Type.method in the package's libraries, each function once."""
    package, _, name = dotted.partition(".")
    owner, _, name = name.rpartition(".")
    found: dict[int, Row] = {}
    for spans in _libraries(memory.pid, package):
        try:
            found.update((row.address, row) for row in _rows(memory, spans, name))
        except Unreadable:
            continue
    wanted = owner.rpartition(".")[2]
    every = list(found.values())
    of_type = [row for row in every if wanted and row.owner.rpartition(".")[2] == wanted]
    return of_type or [row for row in every if not row.owner] or every


def _libraries(pid: int, package: str) -> list[list[tuple[int, int, str]]]:
    found: dict[str, list[tuple[int, int, str]]] = {}
    for start, stop, mode, _, _, path in proc.maps(pid):
        if _belongs(path, package):
            found.setdefault(path, []).append((start, stop, mode))
    return list(found.values())


def _belongs(path: str, package: str) -> bool:
    file = os.path.basename(path)  # noqa: PTH119
    return ".so" in file and (file.partition(".")[0] == package or f"/{package}/" in path)


def _rows(memory: RemoteMemory, spans: list[tuple[int, int, str]], name: str) -> Iterator[Row]:
    code = [(start, stop) for start, stop, mode in spans if "x" in mode]
    read = [(start, memory.read(start, stop - start)) for start, stop, mode in spans if mode[:1] == "r"]

    def method(row: int) -> tuple[int, int]:
        """(function, flags) of a row; (0, 0) where it is none."""
        try:
            function, flags = struct.unpack("<Qi", memory.read(row + 8, 12))
        except Unreadable:
            return 0, 0
        known = 0 < flags < _FLAGS_MAX and any(start <= function < stop for start, stop in code)
        return (function, flags) if known and row % 8 == 0 else (0, 0)

    for text in _places(read, name.encode() + b"\0"):
        for row in _places(read, struct.pack("<Q", text)):
            function, flags = method(row)
            if function:
                first = row
                while method(first - _ROW)[0]:
                    first -= _ROW
                yield Row(function, flags, _owner(memory, _places(read, struct.pack("<Q", first))))


def _owner(memory: RemoteMemory, fields: Iterator[int]) -> str:
    """The name of the type whose field has a table's address."""
    for at in fields:
        if not _name(memory, at + _NAME_OF_MODULE):
            if memory.word(at - 8) == _SLOT_METHODS:
                return "a type"
            if name := _name(memory, at + _NAME_OF_TYPE):
                return name
    return ""


def _name(memory: RemoteMemory, field: int) -> str:
    try:
        said = memory.text(memory.word(field), 100)
    except Unreadable:
        return ""
    return said if said.replace(".", "_").isidentifier() else ""


def _places(read: list[tuple[int, bytes]], wanted: bytes) -> Iterator[int]:
    for start, content in read:
        at = content.find(wanted)
        for _ in range(_NAMES_MAX):
            if at < 0:
                break
            yield start + at
            at = content.find(wanted, at + 1)
