"""Whether a block holds the bytes of others in one run, or is such a run: pickles, slices, messages."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from mmap import PAGESIZE as PAGE
from typing import Final, NamedTuple

from inspector import _native
from inspector.adapters.base import Elements
from inspector.objects.sharing.meetings import Blocks
from inspector.objects.sharing.values import gathered, is_in_memory

LEAST: Final = 32
"""Bytes: fewer may be equal by chance."""
MOST: Final = 1 << 22
"""Bytes of a block that are searched; of a larger one only the beginning, for a smaller header."""
HEADER: Final = 1 << 13
CHUNK: Final = 256
CHUNKS: Final = 24
NEEDLE: Final = 32
DIFFERENT: Final = 4
"""So many different bytes has what is looked for, at least."""
PLACES: Final = 16
TRIES: Final = 64
"""Places where the part stands that are tried."""


class Run(NamedTuple):
    """Bytes of one block that stand in another one."""

    bytes: int
    of: int
    """The number of the block that has them."""
    is_whole: bool = True
    """Whether all bytes were compared."""


def held_in(made: Elements, others: Blocks) -> tuple[Run, ...]:
    """The bytes of `made` that are those of others: all of it, from one of them, or each that is in it as a
    whole. () where there are none, or too many to search. Up to MOST bytes all are compared."""
    if max(one.range.bytes for one in (made, *others)) > MOST:
        return _behind_header(made, others)
    text = _text(made)
    if text is None:
        return ()
    known = [(number, raw) for number, one in enumerate(others) if (raw := _text(one)) is not None]
    parts = [(number, raw) for number, one in enumerate(others) for raw in _in_memory(one)]
    for number, raw in [*known, *parts]:
        if len(raw) >= len(text) and _first(text, raw) >= 0:
            return (Run(len(text), number),)
    return tuple(run for number, raw in known if (run := _whole(raw, text, number)).bytes)


def _behind_header(made: Elements, others: Blocks) -> tuple[Run, ...]:
    """Of large blocks the first that begins with the other one, but for a header: compared by sample."""
    for number, one in enumerate(others):
        small, large = sorted((made, one), key=lambda block: block.range.bytes)
        if not (_is_dense(small) and _is_dense(large)) or small.range.bytes < HEADER:
            continue
        text, within = (_native.read(block.range.start, HEADER) for block in (small, large))
        at, part = _needle((text or b"")[: HEADER // 2])
        shift = (within or b"").find(part) - at if part else -1
        if shift >= 0 and shift + small.range.bytes <= large.range.bytes and _same(small, large, shift):
            return (Run(small.range.bytes, number, False),)
    return ()


def _same(small: Elements, large: Elements, shift: int) -> bool:
    """Whether bytes spread over one block stand in the other, so much further."""
    last = small.range.bytes - CHUNK
    places = [last * number // (CHUNKS - 1) for number in range(CHUNKS)]
    pairs = [
        (_native.read_present(small.range.start + at, CHUNK), large.range.start + shift + at) for at in places
    ]
    return all(raw is not None and _native.read_present(at, CHUNK) == raw for raw, at in pairs)


def _is_dense(block: Elements) -> bool:
    return block.numeric and block.range.bytes == block.size * block.itemsize_bytes


def _text(block: Elements) -> bytes | None:
    """The bytes of a block without gaps; None of others, of few or too many, of pages not in memory."""
    size = block.range.bytes
    return gathered(block, "C", MOST) if _is_dense(block) and LEAST <= size <= MOST else None


def _in_memory(block: Elements) -> Iterator[bytes]:
    """What is in memory of a block of bytes of which some pages are not, as those of a mapped file are not
    before they are read; at most one part, with the first such pages that follow each other."""
    start, stop = block.range.start, block.range.stop
    if block.itemsize_bytes != 1 or not LEAST <= stop - start <= MOST or is_in_memory(start, stop):
        return
    pages = range(start // PAGE * PAGE, stop, PAGE)
    first = next((page for page in pages if is_in_memory(page, page + PAGE)), stop)
    last = next((page for page in pages if page > first and not is_in_memory(page, page + PAGE)), stop)
    low, high = max(first, start), min(last, stop)
    if high > low and (raw := _native.read(low, high - low)):
        yield raw


def _needle(text: bytes) -> tuple[int, bytes]:
    """A part of some bytes that is not the same byte again and again, and its place; b"" if there is none."""
    last = max(len(text) - NEEDLE, 0)
    for number in range(PLACES):
        at = last * number // (PLACES - 1)
        if len({*text[at : at + NEEDLE]}) >= DIFFERENT:
            return at, text[at : at + NEEDLE]
    return 0, b""


def _first(text: bytes, within: bytes, start: int = 0) -> int:
    """Where all of `text` stands in other bytes; -1 if nowhere."""
    at, part = _needle(text)
    place = start + at - 1
    for _ in range(TRIES if part else 0):
        place = within.find(part, place + 1)
        if place < 0 or within.startswith(text, place - at):
            return place - at if place >= 0 else -1
    return -1


def _whole(raw: bytes, text: bytes, number: int) -> Run:
    """How many bytes of `text` are a block's own, which may stand in it several times."""
    found, start = 0, 0
    while len(raw) <= len(text) - start and (place := _first(raw, text, start)) >= 0:
        found, start = found + len(raw), place + len(raw)
    return Run(found, number)
