"""Arrays over what a statement's objects hold, for NumPy, without their code."""

# SPDX-License-Identifier: MIT
from typing import Any, Final

from inspector import _native
from inspector.adapters.base import Elements
from inspector.adapters.formats import letter
from inspector.sessions.statements.elements import elements_of

MOST_BYTES: Final = 1 << 24
"""Of more elements nothing is said."""
NUMBERS: Final = "biuf"
TEXTS: Final = "US"
_KINDS: Final = f"{NUMBERS}{TEXTS}V"
"""Kinds of elements that are read, V for those with fields."""
_PLAIN: Final = (int, float, bool, str, bytes)


class Unread(Exception):
    """An object that is not read."""


class _Block:
    """A block for NumPy."""

    def __init__(self, block: Elements) -> None:
        place = (block.address, block.readonly)
        self.__array_interface__ = {
            "version": 3, "data": place, "shape": block.shape, "strides": block.strides_bytes,
            "typestr": letter(block.typestr) and _typestr(block),
        }  # fmt: skip


def array_of(owner: Any, np: Any) -> Any:
    """An array of NumPy's, or an object of one block of numbers as an array over it; raises Unread."""
    if type(owner) is np.ndarray and owner.nbytes <= MOST_BYTES and owner.dtype.kind in _KINDS:
        return owner
    blocks = elements_of(owner) if not _native.exactly(owner, np.ndarray, dict, list, tuple) else ()
    if len(blocks) != 1:
        raise Unread
    return block_of(blocks[0], np)


def block_of(block: Elements, np: Any) -> Any:
    """An array over a block of numbers; raises Unread."""
    is_read = block.numeric and letter(block.typestr) and block.itemsize_bytes <= 8
    if not is_read or block.range.bytes > MOST_BYTES:
        raise Unread
    return np.asarray(_Block(block))


def is_plain(one: Any, np: Any) -> bool:
    """Whether it is a number or a text of Python's or NumPy's own."""
    return _native.exactly(one, *_PLAIN, *np.sctypeDict.values())


def _typestr(block: Elements) -> str:
    kind = letter(block.typestr)
    of = "b" if kind == "?" else "f" if kind in "efdg" else "i" if kind.islower() else "u"
    return f"{'|' if block.itemsize_bytes == 1 else '<'}{of}{block.itemsize_bytes}"
