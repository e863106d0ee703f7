"""A number of R's and Python's that are the same: of a loop only the first one is looked at closely."""

# SPDX-License-Identifier: MIT
import struct
from typing import Any, Final

from inspector import _native
from inspector.objects.layouts.r_objects import NIL, header
from inspector.objects.layouts.r_vectors import INTEGER, LOGICAL, REAL

HEAD: Final = struct.Struct("=7Q")
"""The seventh word is the element of a plain vector of one."""
ALTREP: Final = 1 << 7
WIDE: Final = 1 << 30
"""Whole numbers from here on take more bytes."""

Kind = tuple[Any, ...]


def kind_of(to_r: int, obj: Any, sexp: int, texts: tuple[str, ...]) -> Kind | None:
    """What all conversions of such a number at this place have in common; None: they may differ.

    A plain vector of one without attributes, and a number of Python's with the same value and size.
    """
    bits = _bits(obj)
    raw = _native.read(sexp, HEAD.size) if bits is not None else None
    if raw is None or bits is None:
        return None
    word, attributes, _, _, length, _, element = HEAD.unpack(raw)
    code, expected, size = bits
    if word & 31 != code or word & ALTREP or length != 1 or not _is_nil(attributes):
        return None
    is_same = element & ((1 << 8 * size) - 1) == expected
    return (to_r, code, obj if code == LOGICAL else None, texts) if is_same else None


def _bits(obj: Any) -> tuple[int, int, int] | None:
    """(R's type, the element's bits, their bytes) of a number that R has too."""
    if type(obj) is float:
        return REAL, int.from_bytes(struct.pack("=d", obj), "little"), 8
    if type(obj) is bool:
        return LOGICAL, int(obj), 4
    if type(obj) is int and 0 < abs(obj) < WIDE:
        return INTEGER, obj & 0xFFFFFFFF, 4
    return None


_nil: Final[list[int]] = []
"""R's NULL, once it is known: it lives as long as R."""


def _is_nil(address: int) -> bool:
    if not _nil and (found := header(address)) is not None and found.type == NIL:
        _nil.append(address)
    return address in _nil
