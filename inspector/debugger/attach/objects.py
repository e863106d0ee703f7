"""Read items and attributes of another process's containers from its memory; calls no code there."""

# SPDX-License-Identifier: MIT
import struct
from collections.abc import Iterator
from itertools import islice
from typing import Final

from inspector.debugger.attach import object_layout as at
from inspector.debugger.attach.object_layout import ObjectLayout
from inspector.debugger.memory.python_layout import UNTAGGED, Layout
from inspector.debugger.memory.python_values import Values
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable

ENTRIES_MAX: Final = 1 << 22
"""Entries of one dict; a larger dict counts as unreadable."""
NAME_CHARACTERS: Final = 200
KEYS_MAX: Final = 8
"""Items of a tuple that is written as a key."""


class Objects:
    """Reads containers of one process with one CPython."""

    def __init__(self, memory: RemoteMemory, frames: Layout, where: ObjectLayout) -> None:
        self.memory, self.values, self.where = memory, Values(memory, frames), where

    def type_of(self, address: int) -> int:
        """The type of an object. Raises Unreadable."""
        return self.memory.word(address + 8)

    def type_name(self, address: int) -> str:
        """tp_name of an object's type; raises Unreadable where that is no type."""
        found = self.values.type_of(self.type_of(address))
        if found is None:
            raise Unreadable(f"{address:#x}")
        return found[0]

    def is_a(self, address: int, bit: int) -> bool:
        """Whether the object's type has a bit of tp_flags."""
        return bool(self.memory.word(self.type_of(address) + at.TYPE_FLAGS) >> bit & 1)

    def items(self, address: int) -> Iterator[tuple[int, int, int]]:
        """(key, value, address of the value's slot) of a dict, in its order. Raises Unreadable."""
        word = self.memory.word
        keys, values = word(address + at.DICT_KEYS), word(address + at.DICT_VALUES)
        for i, (key, value, slot) in enumerate(self.keys_entries(keys)):
            if values:
                slot = values + self.where.values + 8 * i
                value = word(slot)
            if key and value:
                yield key, value, slot

    def keys_entries(self, keys: int) -> Iterator[tuple[int, int, int]]:
        """(key, value, address of the value's slot) of a dict's keys, empty entries too."""
        head = self.memory.read(keys, at.KEYS_HEAD)
        general, size = head[10] == 0, struct.unpack_from("<Q", head, 24)[0]
        if size > ENTRIES_MAX or head[9] > 40:
            raise Unreadable(f"{keys:#x}")
        start, step = keys + at.KEYS_HEAD + (1 << head[9]), 24 if general else 16
        raw = self.memory.read(start, size * step)
        for i in range(size):
            key, value = struct.unpack_from("<QQ", raw, i * step + step - 16)
            yield key, value, start + i * step + step - 8

    def text_items(self, address: int) -> Iterator[tuple[str, int]]:
        """(key, value) of a dict's items whose keys are str."""
        for key, value, _ in self.items(address):
            if (name := self.text(key)) is not None:
                yield name, value

    def text(self, address: int) -> str | None:
        """A str; None for any other object."""
        try:
            return self.values.text(address, NAME_CHARACTERS) if self.type_name(address) == "str" else None
        except (Unreadable, UnicodeDecodeError):
            return None

    def named(self, address: int, wanted: str) -> int:
        """The value of a dict's str key; 0 where there is none."""
        return next((value for name, value in self.text_items(address) if name == wanted), 0)

    def sequence(self, address: int) -> tuple[int, int]:
        """(address of the first item, number) of a list or tuple."""
        count = self.memory.word(address + 16)
        is_list = self.is_a(address, at.LIST)
        return (self.memory.word(address + 24) if is_list else address + self.where.tuple_items), count

    def attributes(self, address: int) -> Iterator[tuple[str, int, int]]:
        """(name, value, address of its slot) of an instance's own attributes: its dict and slots."""
        kind = self.type_of(address)
        yield from self._members(address, kind)
        found = self.own_dict(address)
        if found:
            for key, value, slot in self.items(found):
                if (name := self.text(key)) is not None:
                    yield name, value, slot
            return
        for name, slot in self.inline(address):
            if value := self.memory.word(slot):
                yield name, value, slot

    def own_dict(self, address: int) -> int:
        """The `__dict__` of an instance or module; 0 where it does not exist yet."""
        kind, word = self.type_of(address), self.memory.word
        flags = word(kind + at.TYPE_FLAGS)
        if flags >> at.MANAGED_DICT & 1:
            found = word(address - 24)
            return 0 if found & 1 else found
        offset = struct.unpack("<q", self.memory.read(kind + at.TYPE_DICT_OFFSET, 8))[0]
        return word(address + offset) if offset > 0 else 0

    def inline(self, address: int) -> Iterator[tuple[str, int]]:
        """(name, address of its slot) of an instance's inline values."""
        kind = self.type_of(address)
        start = self._inline_start(address, kind)
        if start:
            keys = self.memory.word(kind + self.where.cached_keys)
            for i, (key, _, _) in enumerate(self.keys_entries(keys) if keys else ()):
                if (name := self.text(key)) is not None:
                    yield name, start + 8 * i

    def _inline_start(self, address: int, kind: int) -> int:
        word = self.memory.word
        flags = word(kind + at.TYPE_FLAGS)
        if not flags >> at.MANAGED_DICT & 1:
            return 0
        if self.where.minor == 11:
            return word(address - 32)
        if self.where.minor == 12:
            found = word(address - 24)
            return found + 1 if found & 1 else 0
        start = address + word(kind + at.TYPE_BASE_SIZE)
        valid = flags >> at.INLINE_VALUES & 1 and self.memory.read(start, 4)[3]
        return start + self.where.values if valid else 0

    def _members(self, address: int, kind: int) -> Iterator[tuple[str, int, int]]:
        """(name, value, address of its slot) of members by PyMemberDef (descrobject.h), over the MRO."""
        for base in self.bases(kind):
            for name, offset in self.members(base):
                if value := self.memory.word(address + offset):
                    yield name, value, address + offset

    def bases(self, kind: int) -> list[int]:
        """The MRO of a type."""
        found = self.memory.word(kind + at.TYPE_MRO)
        if not found:
            return [kind]
        start, count = self.sequence(found)
        return [self.memory.word(start + 8 * i) for i in range(min(count, 100))]

    def members(self, kind: int) -> Iterator[tuple[str, int]]:
        """(name, offset) of a type's object members: Py_T_OBJECT_EX and T_OBJECT."""
        row = self.memory.word(kind + at.TYPE_MEMBERS)
        for _ in range(200 if row else 0):
            name, code, offset, _, _ = struct.unpack("<Qi4xqi4xQ", self.memory.read(row, 40))
            if not name:
                return
            if code in (6, 16):
                yield self.memory.text(name, 100), offset
            row += 40

    def variables(self, frame: int) -> Iterator[tuple[str, int]]:
        """(name, address of its slot) of a frame's variables, cells included."""
        code = self.memory.word(frame + self.where.frame_code) & UNTAGGED
        names = self.memory.word(code + at.CODE_NAMES)
        start, count = self.sequence(names)
        for i in range(min(count, 10_000)):
            yield (
                self.text(self.memory.word(start + 8 * i)) or "?",
                frame + self.where.frame_variables + 8 * i,
            )

    def namespace(self, frame: int) -> int:
        """The dict that a frame keeps names in (f_locals): a module's, a class body's; 0 for a function."""
        before = self.where.minor == 11
        return self.memory.word(frame + (self.where.frame_code - 8 if before else 40))

    def some_items(self, address: int, limit: int) -> list[tuple[str, int]]:
        """The first items of a dict as (key as text, value)."""
        return [(f"[{self.key(key)}]", value) for key, value, _ in islice(self.items(address), limit)]

    def key(self, address: int) -> str:
        """A dict's key as it is written, of a short tuple too; else its type."""
        try:
            is_short = self.type_name(address) == "tuple" and 0 < self.sequence(address)[1] <= KEYS_MAX
        except Unreadable:
            return "?"
        if not is_short:
            return self.values.brief(address)
        start, count = self.sequence(address)
        items = [self.values.brief(self.memory.word(start + 8 * i)) for i in range(count)]
        return f"({', '.join(items)}{',' if count == 1 else ''})"
