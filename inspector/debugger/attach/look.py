"""One object of another process as a fact: type, refcount, bounded value, contents."""

# SPDX-License-Identifier: MIT
import struct
from itertools import islice
from typing import Any, Final, NamedTuple

from inspector.debugger.attach import object_layout as at
from inspector.debugger.attach.module_globals import Global, of_global
from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.path import followed, root
from inspector.debugger.attach.runtime import Runtime
from inspector.debugger.memory import proc
from inspector.debugger.memory.remote_memory import Unreadable
from inspector.facts.remote import Entry, Remote
from inspector.facts.unknown import Address, Immortal, ImmortalType, Unknown

ENTRIES: Final = 40
ATTRIBUTES_MAX: Final = 32_000
_NUMBERS: Final = {
    ("f", 8): "d", ("f", 4): "f", ("i", 8): "q", ("i", 4): "i", ("i", 2): "h", ("i", 1): "b",
    ("u", 8): "Q", ("u", 4): "I", ("u", 2): "H", ("u", 1): "B", ("b", 1): "?",
}  # fmt: skip
"""(kind, bytes) of a dtype -> struct's format letter."""
_VALUES: Final = 6


def look(objects: Objects, found: Runtime, expression: str) -> Remote:
    """The object at a path. Raises InspectorError: not-a-path, no-such-path."""
    begun = root(objects, found.modules, expression)
    address = followed(objects, begun, expression)
    pid = objects.memory.pid
    entries, more = _entries(objects, address)
    return Remote(
        pid,
        proc.program(pid),
        found.version,
        expression,
        Address(address),
        references(objects, address),
        objects.values.describe(address),
        array(objects, address),
        entries,
        more,
        Unknown("not measured"),
        *(of_global(objects, found.modules, begun.module, begun.name) if begun.name else Global()),
    )


def references(objects: Objects, address: int) -> int | ImmortalType:
    """The refcount of an object. Raises Unreadable."""
    word = objects.memory.word(address)
    if objects.where.minor == 11:
        return word
    low = word & 0xFFFFFFFF
    return Immortal if low >> 31 else low


def _entries(objects: Objects, address: int) -> tuple[tuple[Entry, ...], int]:
    """Up to ENTRIES contents of a dict, sequence, instance or module, and how many more there are."""
    try:
        rows, count = contents(objects, address, ENTRIES)
    except Unreadable:
        return (), 0
    return tuple(Entry(key, objects.values.describe(value)) for key, value in rows), count - len(rows)


def contents(objects: Objects, address: int, limit: int) -> tuple[list[tuple[str, int]], int]:
    """(name, address) of an object's items or attributes up to a limit, and the number of all."""
    if objects.is_a(address, at.DICT):
        return objects.some_items(address, limit), objects.memory.word(address + at.DICT_USED)
    if objects.is_a(address, at.LIST) or objects.is_a(address, at.TUPLE):
        start, count = objects.sequence(address)
        word = objects.memory.word
        return [(f"[{i}]", word(start + 8 * i)) for i in range(min(count, limit))], count
    found = list(islice(objects.attributes(address), ATTRIBUTES_MAX))
    named = [(f".{name}", value) for name, value, _ in found if not name.startswith("__")]
    return named[:limit], len(named)


def array(objects: Objects, address: int) -> tuple[tuple[str, str], ...]:
    """dtype, strides, address and first values of an ndarray; empty for others.

    PyArrayObject_fields and PyArray_Descr of numpy/ndarraytypes.h.
    """
    found = _layout(objects, address)
    if found is None:
        return ()
    start, shape, strides = found.start, found.shape, found.strides
    said = [("dtype", f"{found.kind}{found.size}"), ("shape", str(shape)), ("strides", str(strides))]
    said.append(("bytes", f"at {start:#x}"))
    if base := objects.memory.word(address + 48):
        said.append(("base", str(objects.values.describe(base))))
    if found.letter and all(shape):
        said.append(("values", _head(objects, start, found.letter, found.size, shape, strides)))
    return tuple(said)


class _Layout(NamedTuple):
    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: str
    size: int
    letter: str
    """struct's format letter of an element; "" for dtypes that are none of the machine's numbers."""


def _layout(objects: Objects, address: int) -> _Layout | None:
    if objects.type_name(address) != "numpy.ndarray":
        return None
    memory, word = objects.memory, objects.memory.word
    start, nd = word(address + 16), struct.unpack("<i", memory.read(address + 24, 4))[0]
    if not 0 <= nd <= 64:
        return None
    shape = struct.unpack(f"<{nd}q", memory.read(word(address + 32), 8 * nd)) if nd else ()
    strides = struct.unpack(f"<{nd}q", memory.read(word(address + 40), 8 * nd)) if nd else ()
    descr = word(address + 56)
    kind, order = (chr(byte) for byte in memory.read(descr + 24, 3)[::2])
    size = _item_bytes(objects, descr)
    letter = _NUMBERS.get((kind, size), "") if order in "<|=" else ""
    return _Layout(start, shape, strides, kind, size, letter)


def array_bytes(objects: Objects, address: int, item: tuple[int, ...]) -> tuple[int, int, str] | None:
    """First byte, length and struct's format letter of an ndarray or of the element at `item`; None for
    others. Raises LookupError where it has no such element, or none at all."""
    found = _layout(objects, address)
    if found is None:
        return None
    if item:
        inside = len(item) == len(found.shape) and all(i < n for i, n in zip(item, found.shape, strict=True))
        if not inside:
            raise LookupError(f"an array of shape {found.shape} has no element {item}")
        at = sum(i * step for i, step in zip(item, found.strides, strict=True))
        return found.start + at, found.size, found.letter
    if not all(found.shape):
        raise LookupError("the array is empty")
    ends = [(n - 1) * step for n, step in zip(found.shape, found.strides, strict=True)]
    first = sum(one for one in ends if one < 0)
    last = sum(one for one in ends if one > 0)
    return found.start + first, last - first + found.size, found.letter


def shape(objects: Objects, address: int) -> tuple[int, ...] | None:
    """The shape of an ndarray; None for others."""
    found = _layout(objects, address)
    return None if found is None else found.shape


def element(objects: Objects, address: int, item: tuple[Any, ...]) -> int | float | bool:
    """The number at an element of an ndarray, indexes from the end too. Raises ValueError."""
    sizes = shape(objects, address) or ()
    if not all(type(one) is int for one in item):
        raise ValueError("only whole numbers index an array here")
    whole = tuple(one + size if one < 0 else one for one, size in zip(item, sizes, strict=False))
    if len(item) != len(sizes) or min(whole, default=0) < 0:
        raise ValueError(f"an array of shape {sizes} has no element {item}")
    try:
        start, size, letter = array_bytes(objects, address, whole) or (0, 0, "")
    except LookupError as error:
        raise ValueError(str(error)) from None
    if not letter:
        raise ValueError("only numbers of the machine's own kinds are read")
    return struct.unpack(f"<{letter}", objects.memory.read(start, size))[0]  # type: ignore[no-any-return]


def _item_bytes(objects: Objects, descr: int) -> int:
    """elsize of a dtype. At 32 NumPy 1 has two ints, elsize and alignment; NumPy 2 flags, then elsize."""
    size, alignment = struct.unpack("<II", objects.memory.read(descr + 32, 8))
    return size if alignment else objects.memory.word(descr + 40)


def _head(
    objects: Objects, start: int, letter: str, size: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> str:
    """The first elements along the last dimension."""
    count = min(shape[-1], _VALUES) if shape else 1
    step = strides[-1] if strides else 0
    said = []
    for i in range(count):
        said.append(str(struct.unpack(f"<{letter}", objects.memory.read(start + i * step, size))[0]))
    return ", ".join(said) + (" …" if not shape or shape[-1] > count or len(shape) > 1 else "")
