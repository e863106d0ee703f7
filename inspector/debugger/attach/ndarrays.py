"""An ndarray of another process: PyArrayObject_fields and PyArray_Descr of numpy/ndarraytypes.h."""

# SPDX-License-Identifier: MIT
import struct
from math import prod
from typing import Any, Final, NamedTuple

from inspector.debugger.attach.objects import Objects
from inspector.facts.amounts import size
from inspector.facts.remote import NO_ARRAY, RemoteArray
from inspector.facts.unknown import Unknown

_NUMBERS: Final = {
    ("f", 8): "d", ("f", 4): "f", ("i", 8): "q", ("i", 4): "i", ("i", 2): "h", ("i", 1): "b",
    ("u", 8): "Q", ("u", 4): "I", ("u", 2): "H", ("u", 1): "B", ("b", 1): "?",
}  # fmt: skip
"""(kind, bytes) of a dtype -> struct's format letter."""
_NAMES: Final = {"f": "float", "i": "int", "u": "uint", "c": "complex"}
_VALUES: Final = 6
BASE: Final = 48
_FLAGS: Final = 64
_OWNS: Final = 4
"""NPY_ARRAY_OWNDATA."""


def array(objects: Objects, address: int) -> tuple[tuple[str, str], ...]:
    """dtype, strides, address and first values of an ndarray; empty for others."""
    found = _layout(objects, address)
    if found is None:
        return ()
    start, shape, strides = found.start, found.shape, found.strides
    said = [("dtype", found.dtype), ("shape", str(shape)), ("strides", str(strides))]
    said.append(("bytes", f"at {start:#x}"))
    if base := objects.memory.word(address + BASE):
        said.append(("base", described(objects, base)))
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

    @property
    def bytes(self) -> int:
        return prod(self.shape) * self.size

    @property
    def dtype(self) -> str:
        if self.kind == "b":
            return "bool"
        return f"{_NAMES[self.kind]}{8 * self.size}" if self.kind in _NAMES else f"{self.kind}{self.size}"


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


def described(objects: Objects, address: int) -> str:
    """Type and bounded value of an object; of an ndarray also dtype and bytes."""
    found = _layout(objects, address)
    if found is None:
        return str(objects.values.describe(address))
    return f"numpy.ndarray {found.dtype} {found.shape}, {size(found.bytes)}"


def owned(objects: Objects, address: int, names: dict[int, str]) -> RemoteArray | Unknown:
    """Whose the bytes of an ndarray are. `names`: address -> the name of a global."""
    found = _layout(objects, address)
    if found is None:
        return NO_ARRAY
    base = objects.memory.word(address + BASE)
    of_base = _layout(objects, base) if base else None
    name = names.get(base, "")
    said = name or (objects.type_name(base) if base else "")
    owns = bool(objects.memory.word(address + _FLAGS) & _OWNS)
    return RemoteArray(found.bytes, owns, said, bool(name), of_base.bytes if of_base else 0)


def whole(objects: Objects, address: int) -> tuple[int, int] | None:
    """(first byte, bytes) of the memory that an ndarray shows: its base's, if that is an ndarray."""
    own = _layout(objects, address)
    base = objects.memory.word(address + BASE) if own else 0
    found = (_layout(objects, base) if base else None) or own
    return (found.start, found.bytes) if found else None


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
