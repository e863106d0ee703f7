"""What the hooks ask of objects whose struct the extension does not know: the adapters' answer, as rows."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from inspector import _native
from inspector.adapters.base import type_attribute, type_module, type_name
from inspector.adapters.registry import shared
from inspector.tracing.events.span_flags import (
    SPAN_C,
    SPAN_LINKED,
    SPAN_LINKS,
    SPAN_MORE,
    SPAN_READONLY,
    SPAN_TOLD,
)
from inspector.tracing.record.own_parts import own_parts

if TYPE_CHECKING:
    from inspector.adapters.base import Adapter, Elements
    from inspector.facts.memory import Range

_STRUCT_LETTERS = {"b": "?", "i": "bhilqn", "u": "BHILQN", "f": "efd"}
MOST = 8
"""Blocks told of one object before its call is over (native/trace/record/reported_spans.h)."""
MOST_AFTER = 64
"""Blocks told of one object when it is: tables have one for each column."""
MOST_OF_ONE = 256
"""Blocks told of an object that a user names, or that is alive beside it."""
MOST_OWNERS = 16
MOST_ASKED = 1000
"""Living objects of one type, the youngest, that are asked whether they hold some bytes."""

AXES_TOLD = 4
Row = tuple[int, int, int, int, str, int, int, tuple[int, ...], tuple[int, ...]]
"""Start, extent in bytes, bytes of the elements, bytes of one, NumPy's letter, flags (native/objects/spans.h), the
element with all indices 0, shape and strides; () where there are more axes than are told."""


def prepare() -> bool:
    """Wake the adapters of what is imported, unrecorded: self tests call the libraries. Whether any came."""
    return shared().wake()


def spans(x: Any) -> list[Row] | None:
    """The blocks of `x`; None where no adapter knows its type."""
    adapter = shared().known(type(x))
    if adapter is None:
        return None
    linked = SPAN_LINKED if _links(_last_owner(x)) else 0
    return [(*row[:5], row[5] | linked, *row[6:]) for row in _rows(adapter, x, MOST_OF_ONE)]


def _last_owner(x: Any) -> Any:
    """What keeps the bytes of `x` alive in the end, where its adapter and those of its owners say so."""
    owner = x
    for _ in range(MOST_OWNERS):
        adapter = shared().known(type(owner))
        held = adapter.holds(owner) if adapter is not None else ()
        if len(held) != 1:
            break
        owner = held[0][1]
    return owner


def linking() -> frozenset[str]:
    """Libraries here that have an allocator linked into them."""
    return frozenset(one.library for one in shared().awake if one.links_allocator)


def _links(x: Any) -> bool:
    """Whether `x` is of such a library, and no object that adapters know: of those they say it themselves."""
    return type_module(type(x)).partition(".")[0] in linking() and shared().known(type(x)) is None


class Others:
    """The blocks of other living objects, which are no part of `x`.

    For an object that a user names. Those that Python's collector follows, and adapters know, are asked once.
    """

    def __init__(self, x: Any) -> None:
        self._x: Any = x
        self._extents: list[tuple[int, int]] | None = None

    def hold(self, start: int, size: int) -> bool:
        """Whether one of them holds all these bytes."""
        if self._extents is None:
            parts = own_parts(self._x)
            rows = (row for one in _living() if id(one) not in parts for row in spans(one) or ())
            self._extents = [(row[0], row[0] + row[1]) for row in rows]
        return any(low <= start and start + size <= high for low, high in self._extents)


def _living() -> Iterator[Any]:
    """The youngest of each type that an adapter knows: a type of which there are thousands hides no other."""
    left: dict[int, int] = {}
    for generation in range(3):
        for one in reversed(gc.get_objects(generation=generation)):
            kind = id(type(one))
            if kind not in left:
                left[kind] = MOST_ASKED if _telling(type(one))[0] is not None else 0
            left[kind] -= 1
            if left[kind] >= 0:
                yield one


def asker() -> Callable[..., list[Row] | tuple[Row, ...] | None]:
    """What the hooks ask: `spans`; a tuple for types whose objects may as well be asked after the call. Asked
    with a number, the blocks after so many.

    Good for one trace: adapters are remembered by the id of a type, which lives as long (native/trace/record/interned.h).
    """
    known: dict[int, tuple[Adapter | None, bool]] = {}

    def asked(x: Any, after: int = 0) -> list[Row] | tuple[Row, ...] | None:
        kind = type(x)
        try:
            adapter, steady = known[id(kind)]
        except KeyError:
            adapter, steady = known[id(kind)] = _telling(kind)
        if adapter is None:
            return None
        if after:
            return _rows(adapter, x, MOST_AFTER)[after:]
        return tuple(_rows(adapter, x, MOST)) if steady else _rows(adapter, x, MOST)

    return asked


def _telling(kind: type) -> tuple[Adapter | None, bool]:
    """The adapter to ask about objects of a type, if they can have elements; whether those are for life."""
    adapter = shared().known(kind)
    if adapter is None or type_name(kind) in adapter.bare:
        return None, False
    return adapter, type_name(kind) in adapter.steady


def _rows(adapter: Adapter, x: Any, most: int) -> list[Row]:
    """The first `most` of its blocks; where there are more, each says so."""
    blocks = adapter.elements(x)
    links = adapter.links_allocator
    asks = links and not all(block.linked is not None for block in blocks)
    linked = SPAN_LINKED if asks and adapter.owns(x) is not False else 0
    flags = SPAN_TOLD | (SPAN_LINKS if links else 0)
    if not blocks:
        linked = SPAN_LINKED if links and adapter.owns(x) is not False else 0
        extents = adapter.spans(x)
        return [_plain(extent, flags | linked | _more(extents, most)) for extent in extents[:most]]
    flags |= _more(blocks, most)
    return [_row(block, flags | _linked(block, linked)) for block in blocks[:most]]


def _more(some: Sequence[object], most: int) -> int:
    return SPAN_MORE if len(some) > most else 0


def _linked(block: Elements, otherwise: int) -> int:
    return otherwise if block.linked is None else SPAN_LINKED if block.linked else 0


def lent(x: Any) -> list[Row] | None:
    """The block that `x` lends by the buffer protocol, where its type does so in C; None where there is none.

    Asked of one object that a user names, never in a hook: what is lent may not be resized meanwhile.
    """
    import numpy  # not at the top: a launched program may have none

    if isinstance(type_attribute(type(x), "__buffer__"), FunctionType):  # PEP 688: it would run user code
        return None
    try:
        with memoryview(x) as view:
            if not (view.c_contiguous and view.nbytes):
                return None
            start = numpy.frombuffer(view, "u1").__array_interface__["data"][0]
            size, flags = view.nbytes, SPAN_C | SPAN_TOLD | (SPAN_READONLY if view.readonly else 0)
            flags |= SPAN_LINKED if _links(x) else 0
    except (TypeError, ValueError, BufferError):
        return None
    return [(start, size, size, 1, "V", flags, start, (), ())]


def own(x: Any) -> list[Row] | None:
    """The bytes that the struct of `x` tells of: a str lends no buffer."""
    row = _native.own_span(x)
    return None if row is None else [row]


def _row(block: Elements, linked: int) -> Row:
    extent = block.range
    size = block.size * block.itemsize_bytes
    flags = linked | (SPAN_READONLY if block.readonly else 0) | (SPAN_C if _is_contiguous(block) else 0)
    told = 0 < len(block.shape) <= AXES_TOLD
    shape, strides = (block.shape, block.strides_bytes) if told else ((), ())
    letter = _letter(block.typestr)
    return (
        extent.start, extent.bytes, size, block.itemsize_bytes, letter, flags, block.address, shape, strides,
    )  # fmt: skip


def _plain(extent: Range, linked: int) -> Row:
    return (extent.start, extent.bytes, extent.bytes, 1, "V", SPAN_C | linked, extent.start, (), ())


def _is_contiguous(block: Elements) -> bool:
    """In C order; an axis of one element may have any stride."""
    step = block.itemsize_bytes
    for length, stride in zip(reversed(block.shape), reversed(block.strides_bytes), strict=True):
        if length > 1 and stride != step:
            return False
        step *= length
    return True


def _letter(typestr: str) -> str:
    """NumPy's kind of "<f8", or of a letter of the struct module."""
    if len(typestr) > 1:
        return next((one for one in typestr if one in "biufcSUVOmM"), "V")
    return next((kind for kind, letters in _STRUCT_LETTERS.items() if typestr in letters), "V")
