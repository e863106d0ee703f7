"""Blocks of bytes of different objects that meet, and how many bytes they have in common."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements, blocks_of, type_attribute, type_name
from inspector.adapters.registry import adapter_of
from inspector.facts.memory import Range
from inspector.facts.sharing import Sharing
from inspector.facts.unknown import Address, Unknown
from inspector.objects.layouts import overlap

MOST_PROOFS = 10_000
"""Most pairs of blocks that one call proves; others are Unknown."""

Blocks = tuple[Elements, ...]
Meeting = tuple[Elements, Elements]
"""Two blocks whose extents overlap."""


def blocks_in(subject: _native.Subject) -> Blocks | Unknown:
    """The blocks that an object shows; Unknown if nothing says where its bytes are."""
    kind = type(subject.get())
    adapter = adapter_of(kind)
    if adapter is not None:
        return adapter.elements(subject.get())
    spoken = _native.speaks_buffer(kind)
    return Unknown(f"{type_name(kind)} {'was not asked for its bytes' if spoken else 'lays no bytes open'}")


def every_block(subject: _native.Subject) -> Blocks | Unknown:
    """As `blocks_in`, with blocks that are not shown; Unknown if there may be others."""
    adapter = adapter_of(type(subject.get()))
    if adapter is None or type_attribute(type(adapter), "elements") is not Adapter.elements:
        return blocks_in(subject)
    found = _elsewhere(adapter, subject.get())
    return found or Unknown(f"{type_name(type(subject.get()))} lays no bytes open")


def _elsewhere(adapter: Adapter, x: Any) -> Blocks:
    """Bytes that no protocol shows: a module's tensors, each once; the spans in the layers of a BytesIO."""
    if found := {(one.address, one.shape): one for _, blocks in adapter.pieces(x) for one in blocks}:
        return tuple(found.values())
    kind = type_name(type(x))
    spans = [span for layer in adapter.layers(x).layers for span in layer.spans]
    return tuple(
        Elements("struct fields", at.start, (at.bytes,), (1,), 1, "uint8", "B", False, kind) for at in spans
    )


def total_of(subject: _native.Subject, known: Blocks) -> int:
    """How many blocks an object has, with those whose address is not known."""
    adapter = adapter_of(type(subject.get()))
    return len(known) if adapter is None else max(len(known), blocks_of(adapter, subject.get(), known))


def meetings(objects: Sequence[Blocks]) -> dict[tuple[int, int], list[Meeting]]:
    """Blocks of different objects with overlapping extents, by the positions of their objects."""
    extents = [(b.range.start, b.range.stop, n, b) for n, blocks in enumerate(objects) for b in blocks]
    extents = sorted((e for e in extents if e[0] < e[1]), key=lambda extent: extent[:3])
    found: dict[tuple[int, int], list[Meeting]] = {}
    open_now: list[tuple[int, int, Elements]] = []
    for start, stop, n, block in extents:
        open_now = [row for row in open_now if row[0] > start]  # the remaining ones overlap this block
        for _, other, there in open_now:
            if other != n:
                meeting = (there, block) if other < n else (block, there)
                found.setdefault((min(other, n), max(other, n)), []).append(meeting)
        open_now.append((stop, n, block))
    return found


def judged(left: Blocks, right: Blocks, meeting: Sequence[Meeting], proofs: int = MOST_PROOFS) -> Sharing:
    """Whether the meeting blocks of two objects have bytes in common, and how many."""
    if not meeting:
        return Sharing(overlap=False, overlap_bytes=0, ranges=())
    if len(meeting) > proofs:
        result: list[int | Unknown] = [Unknown(f"not proved: more than {MOST_PROOFS:,} blocks meet")]
    else:
        result = [common(a, b) for a, b in meeting]
    unproved = [count for count in result if isinstance(count, Unknown)]
    proved = sum(count for count in result if not isinstance(count, Unknown))
    bytes_: int | Unknown = unproved[0] if unproved else proved
    if proved and not (_apart(left) and _apart(right)):
        bytes_ = Unknown("blocks of one object share bytes among themselves")
    verdict: bool | Unknown = True if proved else unproved[0] if unproved else False
    return Sharing(verdict, bytes_, _ranges(meeting) if verdict is not False else ())


def common(a: Elements, b: Elements) -> int | Unknown:
    """Distinct bytes that belong to elements of both blocks."""
    places = [(x.address, x.shape, x.strides_bytes, x.itemsize_bytes) for x in (a, b)]
    first, second = (overlap.nested(*place) for place in places)
    try:
        if first is not None and second is not None:
            return overlap.common_bytes(first, second)
        return overlap.common_spans(*(overlap.written_out(*place) for place in places))
    except overlap.TooLong:
        return Unknown("their extents overlap; whether elements do takes too long to prove")


def _apart(blocks: Blocks) -> bool:
    """Whether the blocks' extents are disjoint."""
    extents = sorted((b.range.start, b.range.stop) for b in blocks)
    return all(stop <= start for (_, stop), (start, _) in pairwise(extents))


def _ranges(meeting: Iterable[Meeting]) -> tuple[Range, ...]:
    both = [(max(a.range.start, b.range.start), min(a.range.stop, b.range.stop)) for a, b in meeting]
    return tuple(Range(Address(start), Address(stop)) for start, stop in overlap.merged(list(both)))
