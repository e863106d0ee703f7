"""Name the places of another process where a pointer was found, as a user would write them."""

# SPDX-License-Identifier: MIT
from bisect import bisect_right
from pathlib import PurePath
from typing import Final, NamedTuple

from inspector.binaries.symbol_table import Elf, SymbolTable, elf, symbol_table
from inspector.debugger.attach import object_layout as at
from inspector.debugger.attach.module_globals import scopes
from inspector.debugger.attach.ndarrays import BASE
from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.runtime import Runtime
from inspector.debugger.memory import proc
from inspector.debugger.memory.remote_memory import Unreadable
from inspector.facts.amounts import counted
from inspector.facts.refs import Owner
from inspector.facts.unknown import Address, Unknown

INSIDE, ITEMS, ENTRIES, VALUES, TABLE, ATTRIBUTES = range(6)
"""How a word is held: `_native.remote_holders`."""
_NO_PLACE: Final = Unknown("an object of Python")
_NO_SYMBOL: Final = Unknown("no symbol names this place")
_NO_FILE: Final = Unknown("in no file")
_RED_ZONE_BYTES: Final = 128
"""Bytes below the stack pointer that are in use (System V ABI, AMD64)."""
_FIELDS: Final = {
    "cell": {16: ("cell", "")},
    "method": {16: ("bound method", ".__func__"), 24: ("bound method", ".__self__")},
    "builtin_function_or_method": {24: ("bound method", ".__self__"), 32: ("attribute", ".__module__")},
    "function": {16: ("attribute", ".__globals__"), 64: ("attribute", ".__defaults__")},
    "module": {16: ("attribute", ".__dict__")},
    "numpy.ndarray": {BASE: ("attribute", ".base")},
}
"""Type -> offset -> kind and key (headers of Include/cpython)."""


class Holding(NamedTuple):
    """The addresses of a word and of the container that holds it, and how it does."""

    word: int
    object: int
    how: int


class Naming:
    """Names holders of one process; `around`: holder -> the word and container that hold it."""

    def __init__(self, objects: Objects, found: Runtime, around: dict[int, tuple[int, Holding]]) -> None:
        self._objects, self._around = objects, around
        self._scopes = scopes(objects, found.modules)
        self._ranges = proc.writable(objects.memory.pid)
        pointers = proc.stack_pointers(objects.memory.pid)
        self._stacks = {self._range(pointer): pointer for pointer in pointers}
        self._files: dict[str, tuple[Elf | Unknown, SymbolTable | Unknown]] = {}

    def owner(self, one: Holding) -> Owner:
        """The owner for a word in a container: the container's name, and the key in it."""
        try:
            kind, key = self._key(one)
            holder = self._holder(one.object, 0)
        except Unreadable:
            kind, key, holder = "unknown holder", "", f"an object at {one.object:#x}"
        if one.object in self._scopes and key.startswith("['"):
            kind, holder, key = "global", self._scopes[one.object], key[2:-2]
        return Owner(kind, holder, key, 1, True, Address(one.object), _NO_PLACE, _NO_PLACE)

    def _key(self, one: Holding) -> tuple[str, str]:
        """(kind, key) of a word in its container."""
        objects, word = self._objects, self._objects.memory.word
        if one.how == ITEMS:
            return "item", f"[{(one.word - word(one.object + 24)) // 8}]"
        if one.how in (ENTRIES, VALUES):
            for key, _, slot in objects.items(one.object):
                if slot == one.word:
                    return "item", f"[{objects.key(key)}]"
                if slot == one.word + 8:
                    return "item", " as key"
            return "item", " as key" if one.how == ENTRIES else ""
        if one.how == TABLE:
            return "item", ""
        if one.how == ATTRIBUTES:
            return "attribute", self._attribute(one)
        return self._field(one)

    def _attribute(self, one: Holding) -> str:
        return next((f".{name}" for name, slot in self._objects.inline(one.object) if slot == one.word), "")

    def _field(self, one: Holding) -> tuple[str, str]:
        """(kind, key) of a word in the object itself: an item, a variable, a slot, an attribute."""
        objects, offset = self._objects, one.word - one.object
        name = objects.type_name(one.object)
        if offset < 16:
            return ("type", ".__class__") if offset == 8 else ("attribute", ".__dict__")
        first = objects.where.tuple_items
        if objects.is_a(one.object, at.TUPLE) and offset >= first:
            return "item", f"[{(offset - first) // 8}]"
        if name in ("generator", "coroutine", "async_generator"):
            frame = one.object + objects.where.generator_frame
            for variable, slot in objects.variables(frame):
                if slot == one.word:
                    return "generator local", variable
        if field := _FIELDS.get(name, {}).get(offset):
            return field
        for base in objects.bases(objects.type_of(one.object)):
            for member, at_offset in objects.members(base):
                if at_offset == offset:
                    return "slot", f".{member}"
        if attribute := self._attribute(one):
            return "attribute", attribute
        return "slot", f" +{offset:#x}"

    def _holder(self, address: int, depth: int) -> str:
        """A container's type, and its name if any: "dict (3 items), global `cache` of app"."""
        objects = self._objects
        if address in self._scopes:
            return f"module {self._scopes[address]}"
        name = objects.type_name(address)
        is_dict = objects.is_a(address, at.DICT)
        if is_dict or objects.is_a(address, at.LIST) or objects.is_a(address, at.TUPLE):
            count = objects.memory.word(address + (at.DICT_USED if is_dict else 16))
            name += f" ({counted(count, 'item')})"
        _, around = self._around.get(address, (0, None))
        if around is None or depth:
            return name
        kind, key = self._key(around)
        if around.object in self._scopes and key.startswith("['"):
            return f"{name}, global `{key[2:-2]}` of {self._scopes[around.object]}"
        if key == ".__dict__":
            return f"{objects.type_name(around.object)} object"
        return f"{name}, {kind} {key} of {self._holder(around.object, 1)}".replace("  ", " ")

    def is_dead(self, word: int) -> bool:
        """Whether a word is below the stack pointer and the red zone of its thread, so no longer in use."""
        pointer = self._stacks.get(self._range(word), 0)
        return word < pointer - _RED_ZONE_BYTES

    def native(self, word: int) -> Owner:
        """The owner for a word outside Python containers: a static of a library, a stack, a malloc block."""
        at_range = self._range(word)
        start, _, name = self._ranges[at_range]
        if at_range in self._stacks:
            key = f"+{word - start:#x}"
            return Owner("stack", "a thread's stack", key, 1, False, Address(word), _NO_SYMBOL, _NO_FILE)
        if not name.startswith("/") and at_range and self._ranges[at_range - 1][1] == start:
            name = self._ranges[at_range - 1][2]  # a library's .bss follows its .data
        if name.startswith("/"):
            symbol = self._symbol(name, word)
            file = PurePath(name).name
            key = "" if isinstance(symbol, Unknown) else symbol
            return Owner("static", file, key, 1, False, Address(word), symbol, name)
        what = "memory of C, or of an object that the collector does not know"
        return Owner("heap block", what, "", 1, False, Address(word), _NO_SYMBOL, _NO_FILE)

    def _range(self, word: int) -> int:
        return bisect_right(self._ranges, (word, 1 << 64, "")) - 1

    def _symbol(self, path: str, word: int) -> str | Unknown:
        pid = self._objects.memory.pid
        if path not in self._files:
            real = f"/proc/{pid}/root{path}"
            self._files[path] = elf(real, (), ()), symbol_table(real)
        file, table = self._files[path]
        code = next((row for row in proc.code(pid) if row.path == path), None)
        if isinstance(file, Unknown) or isinstance(table, Unknown) or code is None:
            return Unknown("no symbols")
        found = table.find(word - (code.start - file.address(code.file_offset)))
        return f"{found[0]}+{found[1]:#x}" if found else Unknown("no symbol names this place")
