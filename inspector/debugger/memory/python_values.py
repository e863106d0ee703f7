"""Python objects of another process as bounded text, read from its memory after validation.

A word is taken for an object only if its type is one: the type's own type is `type` or derives from it, and
its name is printable. No method is called. Values of built-in types are read by their layout; other objects
are described by their type.
"""

# SPDX-License-Identifier: MIT
import struct
from typing import Final

from inspector.debugger.memory.python_layout import Layout
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.facts.amounts import counted
from inspector.facts.unknown import Unknown

_LONG, _LIST, _TUPLE, _BYTES, _TEXT, _DICT, _TYPE = 24, 25, 26, 27, 28, 29, 31
"""Bits of tp_flags: Py_TPFLAGS_LONG_SUBCLASS and similar (Include/object.h)."""
_FLAGS: Final = 168
_NAME: Final = 24
_REFCOUNT_MAX: Final = 1 << 40
_CHARACTERS: Final = 40
_DIGITS_MAX: Final = 8
_LENGTH_MAX: Final = 1 << 48
_KINDS: Final = {1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}


class Values:
    """Reads objects of one CPython in one process."""

    def __init__(self, memory: RemoteMemory, where: Layout) -> None:
        self._memory, self.where = memory, where
        self._types: dict[int, tuple[str, int] | None] = {}

    def describe(self, address: int) -> str | Unknown:
        """Type, refcount and bounded value of a possible object at `address`."""
        if not address:
            return "NULL"
        try:
            head = self._memory.read(address, 32)
            references, kind = struct.unpack_from("<qQ", head)
            found = self.type_of(kind)
        except Unreadable:
            return Unknown(f"unreadable at {address:#x}")
        if found is None:
            return Unknown(f"no Python object at {address:#x}")
        name, flags = found
        if self.where.version >= (3, 12):
            references &= 0xFFFFFFFF
        if not 0 < references < _REFCOUNT_MAX:
            return Unknown(f"no live object at {address:#x}: {references} references")
        try:
            value = self._value(address, head, name, flags)
        except (Unreadable, struct.error, UnicodeDecodeError):
            value = ""
        return f"{name} {value}".rstrip()

    def brief(self, address: int) -> str:
        """The value, else the type; "?" where there is no object."""
        said = self.describe(address)
        if isinstance(said, Unknown):
            return "?"
        value = said.partition(" ")[2]
        if said.startswith("bytes "):
            value = value.partition(") ")[2]
        return "None" if said == "NoneType" else value or said

    def type_name_of(self, kind: int) -> str:
        """The name of a possible type; "" where it is none."""
        try:
            found = self.type_of(kind)
        except Unreadable:
            found = None
        return found[0] if found else ""

    def type_of(self, kind: int) -> tuple[str, int] | None:
        """(tp_name, tp_flags) of a possible type; None where it is none."""
        if kind not in self._types:
            self._types[kind] = self._read_type(kind)
        return self._types[kind]

    def _read_type(self, kind: int) -> tuple[str, int] | None:
        word = self._memory.word
        if kind % 8 or kind < 4096:
            return None
        meta = word(kind + 8)
        if meta % 8 or meta < 4096 or not word(meta + _FLAGS) >> _TYPE & 1:
            return None
        name = self._memory.text(word(kind + _NAME), 100)
        return (name, word(kind + _FLAGS)) if name and name.isprintable() else None

    def _value(self, address: int, head: bytes, name: str, flags: int) -> str:
        if name in ("NoneType", "ellipsis", "NotImplementedType"):
            return ""
        if flags >> _LONG & 1:
            return self._int(address, name)
        if name == "float":
            return repr(struct.unpack_from("<d", head, 16)[0])
        if flags >> _TEXT & 1:
            return repr(self.text(address, _CHARACTERS))
        if flags >> _TYPE & 1:
            return self._memory.text(self._memory.word(address + _NAME), 100)
        size = struct.unpack_from("<Q", head, 16)[0]
        if size > _LENGTH_MAX:
            return ""
        if flags >> _BYTES & 1:
            return f"({size} B) {self._memory.read(address + 32, min(size, _CHARACTERS))!r}"
        if flags >> _LIST & 1 or flags >> _TUPLE & 1 or flags >> _DICT & 1:
            return f"({counted(size, 'item')})"
        return self._array(head, address) if name == "numpy.ndarray" else ""

    def _array(self, head: bytes, address: int) -> str:
        """The shape: PyArrayObject_fields of numpy/ndarraytypes.h, the same in NumPy 1 and 2."""
        nd = struct.unpack_from("<i", head, 24)[0]
        if not 0 <= nd <= 64:
            return ""
        dimensions = self._memory.word(address + 32)
        shape = struct.unpack(f"<{nd}q", self._memory.read(dimensions, 8 * nd)) if nd else ()
        return str(shape)

    def _int(self, address: int, name: str) -> str:
        word = self._memory.word(address + 16)
        if self.where.version >= (3, 12):
            digits, sign = word >> 3, 1 - (word & 3)
        else:
            size = word - (1 << 64) if word >> 63 else word
            digits, sign = abs(size), -1 if size < 0 else 1
        if digits > _DIGITS_MAX:
            return f"({digits} digits of 30 bits)"
        parts = struct.unpack(f"<{digits}I", self._memory.read(address + 24, 4 * digits))
        value = sign * sum(part << 30 * i for i, part in enumerate(parts))
        return str(bool(value)) if name == "bool" else str(value)

    def text(self, address: int, limit: int) -> str:
        """A str, up to `limit` characters. Raises Unreadable."""
        head = self._memory.read(address, self.where.compact_text)
        length, state = struct.unpack_from("<qI", head, 16)[0], struct.unpack_from("<I", head, 32)[0]
        kind, compact, ascii_ = state >> 2 & 7, state >> 5 & 1, state >> 6 & 1
        if not compact or kind not in _KINDS or length < 0:
            raise Unreadable(f"{address:#x}")
        start = self.where.ascii_text if ascii_ else self.where.compact_text
        read = self._memory.read(address + start, min(length, limit) * kind).decode(_KINDS[kind], "replace")
        return read if length <= limit else read + "…"
