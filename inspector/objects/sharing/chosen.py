"""Whether the elements of a block are among those of others, in whatever order: by a sample of them."""

# SPDX-License-Identifier: MIT
import ctypes
import struct
import sys
from collections.abc import Iterator
from dataclasses import replace
from math import copysign, inf, isnan
from typing import Any, Final, Literal

from inspector.adapters.base import Elements
from inspector.adapters.formats import letter
from inspector.objects.sharing.dense import SAMPLED, is_proof
from inspector.objects.sharing.searched import FEW, missing_from
from inspector.objects.sharing.values import LONG, NUMBERS, decoded, gathered, picked

Found = Literal["all", "some", "none", ""]
"""How many of the sampled elements are among the others'; "": nothing can be told."""
MOST_BYTES: Final = 1 << 20
MOST_CAST: Final = 1 << 13
TOGETHER: Final = 8
"""Elements that are looked for, most bytes of the others, most of their numbers of another type, and how many
single bytes are looked for side by side."""
SOME: Final = 8
"""Fewer than one in so many may be equal by chance, or the first of a running sum."""
TEXT_VIEWS: Final = "|V16"
"""Arrow's views of texts: 16 bytes, in which a text of up to 12 bytes stands itself."""
TEXTS_BYTES: Final = 16
"""Fewer bytes of different texts prove nothing."""
_HALVES: Final = {"c32": LONG, "c16": "d", "Zd": "d", "c8": "f", "Zf": "f"}
"""Complex numbers -> the type of their halves."""


def chosen_from(block: Elements, others: tuple[Elements, ...]) -> Found:
    """Of texts and bytes some that stand side by side, of complex numbers that are real one half.

    Zeros and numbers that are none (NaN) fill gaps, and are passed over. Nothing can be told of truths,
    of too many elements, of types that no other block has.
    """
    if (halves := _halves(block)) and not any(map(_halves, others)):
        return _of_halves([chosen_from(one, others) for one in halves])
    block, others = _as_numbers(block, others), tuple(map(_dates, others))
    if not block.size or letter(block.typestr) == "?":
        return ""
    if sum(one.range.bytes for one in others) > MOST_BYTES:
        return _among_many(block, others)
    if _are_texts(block) or (_are_characters(block) and any(map(_are_words, others))):
        return _texts_from(block, others)
    kind, size = letter(block.typestr), block.itemsize_bytes
    alike = _alike(block, others)
    known = NUMBERS - {"?"} if size > 1 else frozenset()
    cast = [one for one in others if one not in alike and {kind, letter(one.typestr)} <= known]
    texts = [_in_any_order(one) for one in alike]
    found = _some_of(block, kind)
    if None in texts or not found or not (alike or cast):
        return ""

    def absent(some: set[bytes]) -> set[bytes]:
        return {one for one in some if not any(_stands_in(one, text or b"", size) for text in texts)}

    missing = absent(found)
    if missing and cast:
        if sum(one.size for one in cast) > MOST_CAST:
            return "some" if len(missing) < len(found) else ""
        missing.difference_update(*(_cast(one, kind, size) for one in cast))
    said = _said(found, missing, min(2, block.size) if alike else 2)
    is_told = (
        said != "all" or not alike or is_proof(block, tuple(alike), found, lambda some: len(absent(some)))
    )
    return said if is_told else ""


def _alike(block: Elements, others: tuple[Elements, ...]) -> list[Elements]:
    """Those with numbers of the block's type."""
    kind, size = letter(block.typestr), block.itemsize_bytes
    return [one for one in others if (letter(one.typestr), one.itemsize_bytes) == (kind, size)]


def _in_any_order(block: Elements) -> bytes | None:
    """All elements, column by column where that needs fewer steps, as of a pandas block."""
    inner = min(block.strides_bytes[:1], default=0)
    by_column = len(block.shape) > 1 and abs(inner) == block.itemsize_bytes
    return gathered(block, "F" if by_column else "C", MOST_BYTES)


def _among_many(block: Elements, others: tuple[Elements, ...]) -> Found:
    """Of numbers alone: a few of them are looked for in large blocks of the same type."""
    kind, alike = letter(block.typestr), _alike(block, others)
    is_text = block.typestr == TEXT_VIEWS
    some = sorted(_some_of(block, kind)) if is_text or (kind and block.itemsize_bytes > 1) else []
    few = {*some[:: max(1, len(some) // FEW)][:FEW]}
    if not alike or len(few) < min(FEW, block.size):
        return ""

    def absent(wanted: set[bytes]) -> int:
        for one in alike:
            left = missing_from(one, wanted)
            if left is None:
                return FEW
            wanted = left
        return len(wanted)

    if absent(few):
        return ""
    return "all" if is_proof(block, tuple(alike), {*some}, absent) else ""


def _of_halves(said: list[Found]) -> Found:
    if len({*said}) == 1 and (len(said) == 1 or said[0] == "none"):
        return said[0]
    return "some" if {"all", "some"} & {*said} else ""


def _said(found: set[bytes], missing: set[bytes], least: int) -> Found:
    if missing:
        return "some" if (len(found) - len(missing)) * SOME >= len(found) else "none"
    return "all" if len(found) >= least else ""


def _as_numbers(block: Elements, others: tuple[Elements, ...]) -> Elements:
    """A block read as numbers: dates as they are kept, bytes without a type as the others are."""
    block = _dates(block)
    typed = letter(block.typestr) and block.itemsize_bytes > 1
    if typed or any(_same_type(one, block) for one in others):
        return block
    for one in others if block.numeric else ():
        size = one.itemsize_bytes
        whole = block.range.bytes == one.size * size
        if letter(one.typestr) and (size == block.itemsize_bytes or (whole and block.itemsize_bytes == 1)):
            shape = block.shape if size == block.itemsize_bytes else (one.size,)
            steps = block.strides_bytes if shape == block.shape else (size,)
            return replace(block, typestr=one.typestr, itemsize_bytes=size, shape=shape, strides_bytes=steps)
    return block


def _same_type(one: Elements, other: Elements) -> bool:
    return (one.typestr, one.itemsize_bytes) == (other.typestr, other.itemsize_bytes) or (
        one.itemsize_bytes == other.itemsize_bytes == 1
    )


def _dates(block: Elements) -> Elements:
    return replace(block, typestr="q") if block.typestr.lstrip("<")[:2] in ("M8", "m8") else block


def _halves(block: Elements) -> tuple[Elements, ...]:
    """The real and the imaginary parts of complex numbers, () of others; one half if the other is zero."""
    half = _HALVES.get(block.typestr.lstrip("@=<|"))
    if half is None:
        return ()
    size = block.itemsize_bytes // 2
    real = replace(block, typestr=half, itemsize_bytes=size)
    imaginary = replace(real, address=block.address + size)
    raw = picked(imaginary, "C", _spread(block.size))
    return (real,) if raw is not None and not any(decoded(imaginary, raw)) else (real, imaginary)


def _some_of(block: Elements, kind: str) -> set[bytes]:
    """Some elements, or of single bytes some runs."""
    run = TOGETHER if block.itemsize_bytes == 1 else 1
    last = block.size - run
    if last < 0 or (run > 1 and len(block.shape) != 1):
        return set()
    firsts = [i * last // max(min(SAMPLED, block.size) - 1, 1) for i in range(min(SAMPLED, block.size))]
    raw = [picked(block, "C", tuple(range(first, first + run))) for first in firsts]
    whole = {one for one in raw if one is not None and any(one)}
    if kind and kind in "efd":
        return {one for one in whole if not isnan(struct.unpack(f"@{kind}", one)[0])}
    return whole


def _stands_in(one: bytes, text: bytes, size: int) -> bool:
    """Whether elements of so many bytes are some of those that follow each other in `text`."""
    at = text.find(one)
    while at >= 0 and at % size:
        at = text.find(one, at + 1)
    return at >= 0


def _texts_from(block: Elements, others: tuple[Elements, ...]) -> Found:
    """Of texts one by one, or of all characters as they follow each other."""
    known = [b"".join(_texts(one)) if _are_texts(one) else gathered(one, "C", MOST_BYTES)
             for one in others if _are_words(one) or one.typestr == TEXT_VIEWS]  # fmt: skip
    if not known or None in known or not _are_words(block):
        return ""
    whole = set(_texts(block, SAMPLED)) if _are_texts(block) else {gathered(block, "C", MOST_BYTES) or b""}
    found = whole - {b""}
    if sum(map(len, found)) < TEXTS_BYTES:
        return ""
    missing = {one for one in found if not any(one in text for text in known if text)}
    return "some" if missing and _are_characters(block) else _said(found, missing, 1)


def _are_words(block: Elements) -> bool:
    return _are_texts(block) or _are_characters(block)


def _are_characters(block: Elements) -> bool:
    return block.itemsize_bytes == 1 and block.protocol.startswith("Arrow")


def _are_texts(block: Elements) -> bool:
    """Whether a block has str objects, or characters of four bytes as NumPy keeps them."""
    return block.typestr[:2] == "<U" or _is_objects(block)


def _is_objects(block: Elements) -> bool:
    """Whether references follow each other in it, which no thread changes while they are read."""
    plain = block.typestr.lstrip("|") == "O" and block.range.bytes == block.size * block.itemsize_bytes
    return plain and getattr(sys, "_is_gil_enabled", lambda: True)()


def _texts(block: Elements, most: int = MOST_BYTES) -> Iterator[bytes]:
    """The texts of a block that lives, encoded; other objects are passed over."""
    step = max(1, block.size // most)
    if block.numeric:
        raw, size = gathered(block, "C", MOST_BYTES) or b"", block.itemsize_bytes
        for at in range(0, len(raw), size * step):
            yield raw[at : at + size].decode("utf-32-le", "replace").rstrip("\0").encode()
        return
    try:
        found: list[Any] = (ctypes.py_object * block.size).from_address(block.range.start)[::step]
    except ValueError:  # an element without an object
        return
    yield from (one.encode("utf-8", "surrogatepass") for one in found if type(one) is str)


def _cast(block: Elements, kind: str, size: int) -> Iterator[bytes]:
    """The elements of a block in another type."""
    for number in decoded(block, gathered(block, "C", MOST_BYTES) or b""):
        if (made := _narrowed(number, kind, size)) is not None:
            yield struct.pack(f"@{kind}", made)


def cast_of(source: Elements, made: Elements) -> bool:
    """Whether the numbers of a block are those of another one in another type: by a sample of them."""
    halves = _halves(made)
    made, source = halves[0] if len(halves) == 1 else _dates(made), _dates(source)
    kind, other = _kind(made), _kind(source)
    if kind == other and made.typestr.lstrip("<") != LONG and _is_swapped(made) == _is_swapped(source):
        return False
    return "?" not in (kind, other) and _same_numbers(source, made)


def _kind(block: Elements) -> str:
    """The letter of numbers in either byte order."""
    return letter(block.typestr.lstrip(">"))


def _is_swapped(block: Elements) -> bool:
    return block.typestr.startswith(">") and block.itemsize_bytes > 1


def _numbers(block: Elements, raw: bytes) -> tuple[float, ...]:
    """Elements as Python's numbers, in either byte order."""
    if _is_swapped(block):
        size = block.itemsize_bytes
        raw = b"".join(raw[at : at + size][::-1] for at in range(0, len(raw), size))
    return decoded(replace(block, typestr=block.typestr.lstrip(">")), raw)


def uniform(blocks: tuple[Elements, ...]) -> bool:
    """Whether each block has one element only, many times, by a sample."""
    raw = [(one, picked(one, "C", _spread(one.size))) for one in blocks if one.size]
    return all(text == (text or b"")[: of.itemsize_bytes] * len(_spread(of.size)) for of, text in raw)


def _spread(size: int) -> tuple[int, ...]:
    return tuple(i * (size - 1) // max(min(SAMPLED, size) - 1, 1) for i in range(min(SAMPLED, size)))


def _same_numbers(source: Elements, made: Elements) -> bool:
    kind = "g" if made.typestr.lstrip("<") == LONG else _kind(made)
    if source.size != made.size or not {kind, _kind(source)} <= NUMBERS | {"g"} or not made.size:
        return False
    places = _spread(made.size)
    raw, given = picked(made, "C", places), picked(source, "C", places)
    if raw is None or given is None or raw == raw[: made.itemsize_bytes] * len(places):
        return False
    pairs = zip(_numbers(source, given), _numbers(made, raw), strict=True)
    return all(_narrowed(x, kind, made.itemsize_bytes) == y for x, y in pairs)


def _narrowed(number: float, kind: str, size: int) -> float | None:
    """A number as C converts it to a type; None for what has no defined result."""
    if kind in "efdg":
        try:
            return float(struct.unpack(kind, struct.pack(kind, number))[0]) if kind != "g" else float(number)
        except OverflowError:
            return copysign(inf, number)
    try:
        whole = int(number) & ((1 << 8 * size) - 1)
    except (OverflowError, ValueError):
        return None
    return whole - (1 << 8 * size) if kind.islower() and whole >> (8 * size - 1) else whole
