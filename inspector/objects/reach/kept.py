"""What is kept beyond a namespace's names: by IPython's history, by the last traceback, by views."""

# SPDX-License-Identifier: MIT
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from operator import itemgetter
from typing import Any, Final

from inspector._native import Subject
from inspector.adapters.base import Elements, type_name
from inspector.adapters.registry import adapter_of
from inspector.facts.memory import Range
from inspector.facts.namespace import Beyond, Namespace
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address, Unknown
from inspector.objects.layers.pages import residency, resident_bytes
from inspector.objects.layouts.overlap import Nested, merged
from inspector.objects.reach.globals import module_globals
from inspector.objects.reach.reached import Reached, piece_of
from inspector.objects.reach.tracebacks import variables

Spans = list[tuple[int, int]]
LAST_TRACEBACK: Final = "the last traceback"
LEAST_BYTES: Final = 4_096
"""Of fewer bytes there is no row."""


@dataclass(frozen=True, slots=True)
class Root:
    """An object that something keeps besides the names."""

    subject: Subject
    place: str
    by: str
    why: str
    do: str = ""


def roots(history: Mapping[str, tuple[Any, str]], modules: bool) -> Iterator[Root]:
    """IPython's history, the last exception (first its frames' variables), globals of the user's modules."""
    for place, (value, do) in history.items():
        yield Root(Subject(value), place, "history", "", do)
    for name in ("last_exc", "last_value"):
        error = vars(sys).get(name)
        if isinstance(error, BaseException):
            for variable, function, held in variables(error):
                yield Root(Subject(held), variable, "traceback", f"a local of {function}")
            yield Root(Subject(error), f"sys.{name}", "traceback", "the last exception")
    for place, module, held in module_globals() if modules else ():
        yield Root(held, place, "module", f"a global of the module {module}")


def title(kind: type, blocks: tuple[Elements, ...]) -> str:
    """The type's name and, for one block, its element type in the array interface: "ndarray f8"."""
    bare = len(blocks) != 1 or any(kind is one for one in (bytes, bytearray))
    element = "" if bare else blocks[0].typestr.lstrip("<>|=")
    return f"{type_name(kind)} {element}".rstrip()


class Union:
    """Bytes that were counted already: solid spans, in order, and strided pieces between them."""

    def __init__(self, pieces: Sequence[Nested]) -> None:
        self.spans: Spans = merged([(piece.start, piece.stop) for piece in pieces if not piece.axes])
        self.strided = [piece for piece in set(pieces) if piece.axes and not self._has(piece)]

    def add(self, spans: Spans) -> int:
        """Count these too; return how many bytes were not counted before."""
        grown = sum(self._join(start, stop) for start, stop in spans if start < stop)
        if grown and self.strided:
            met = {piece for piece in self.strided if self._has(piece)}
            grown -= sum(piece.bytes for piece in met)
            self.strided = [piece for piece in self.strided if piece not in met]
        return max(grown, 0)

    def _join(self, start: int, stop: int) -> int:
        """Take a span in; return how many of its bytes are new."""
        low = bisect_left(self.spans, start, key=itemgetter(1))
        high = bisect_right(self.spans, stop, key=itemgetter(0))
        met = self.spans[low:high]
        whole = (min(start, met[0][0]), max(stop, met[-1][1])) if met else (start, stop)
        self.spans[low:high] = [whole]
        return whole[1] - whole[0] - _bytes(met)

    def _has(self, piece: Nested) -> bool:
        at = bisect_right(self.spans, piece.start, key=itemgetter(0)) - 1
        return at >= 0 and piece.stop <= self.spans[at][1]


class _Others:
    """What besides the history keeps spans of memory, in their order."""

    def __init__(self, found: Sequence[tuple[Root, Reached]]) -> None:
        places = (({"traceback": LAST_TRACEBACK}.get(root.by, root.place), root, of) for root, of in found)
        rows = [(*span, name) for name, root, of in places if root.by != "history" for span in _spans(of)]
        self.rows = sorted(rows)
        self.furthest = [*accumulate((stop for _, stop, _ in self.rows), max)]
        """Where the spans up to this one end at most: none before it reaches further."""

    def of(self, spans: Spans) -> tuple[str, ...]:
        """The places that keep bytes of these."""
        found = dict[str, None]()
        for start, stop in spans:
            at = bisect_left(self.rows, stop, key=itemgetter(0)) - 1
            while at >= 0 and self.furthest[at] > start:
                if self.rows[at][1] > start:
                    found[self.rows[at][2]] = None
                at -= 1
        return (*sorted(found),)


def more_behind(found: Sequence[Reached]) -> list[int]:
    """What each root keeps beyond what it shows, and beyond what any root shows or one before it keeps."""
    union = Union([piece_of(block) for of in found for block in of.blocks])
    return [union.add([(block.range.start, block.range.stop) for block in of.behind]) for of in found]


def _bytes(spans: Spans) -> int:
    return sum(stop - start for start, stop in spans)


def with_kept(
    fact: Namespace, pieces: Sequence[Nested], object_bytes: int, found: Sequence[tuple[Root, Reached]]
) -> Namespace:
    """The fact with what is kept beyond its names. `pieces`, `object_bytes`: what the names hold."""
    union, rows, objects, others = Union(pieces), list[Beyond](), 0, _Others(found)
    named = object_bytes + _resident([(piece.start, piece.stop) for piece in pieces])
    for root, of in found:
        blocks = (*of.blocks, *of.behind)
        grown = union.add([(block.range.start, block.range.stop) for block in blocks]) + of.fresh_bytes
        objects += of.fresh_bytes
        if grown:
            also = others.of(_spans(of)) if root.by == "history" else ()
            rows.append(Beyond(root.place, _named(root), grown, root.by, root.why, root.do, also))
    whole = [*union.spans, *((piece.start, piece.stop) for piece in pieces)]
    return replace(
        fact,
        kept=tuple(sorted((row for row in rows if row.bytes >= LEAST_BYTES), key=lambda row: -row.bytes)),
        kept_bytes=sum(row.bytes for row in rows),
        ram_bytes=named,
        kept_ram_bytes=objects + object_bytes + _resident(whole) - named,
        rss_bytes=resident_bytes(),
    )


def _spans(of: Reached) -> Spans:
    return [(block.range.start, block.range.stop) for block in (*of.blocks, *of.behind)]


def _resident(spans: Spans) -> int:
    pages = residency([Range(Address(start), Address(stop)) for start, stop in merged(spans)])
    return 0 if isinstance(pages, Unknown) else pages.resident_bytes


def _named(root: Root) -> str:
    kind = type(root.subject.get())
    adapter = adapter_of(kind)
    return title(kind, adapter.elements(root.subject.get()) if adapter is not None else ())
