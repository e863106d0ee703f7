"""The spans that adapters report to the hooks, as rows, for objects with a struct unknown to C."""

# SPDX-License-Identifier: MIT
import gc
import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements, type_attribute, type_module, type_name
from inspector.adapters.registry import shared
from inspector.facts.memory import Range
from inspector.tracing.events.span_flags import (
    SPAN_C,
    SPAN_LINKED,
    SPAN_LINKS,
    SPAN_MORE,
    SPAN_READONLY,
    SPAN_TOLD,
)
from inspector.tracing.record.own_parts import own_parts

_TIMED = re.compile(r"(timestamp|datetime64|date32|date64|duration|timedelta64|time32|time64)\[(\w+)[\],]")
_DATES = {"timestamp": "M", "datetime64": "M", "date32": "M", "date64": "M"}
_DAY = {"day": "D"}
_STRUCT_LETTERS = {"b": "?", "i": "bhilqn", "u": "BHILQN", "f": "efd"}
MOST = 8
"""Most blocks reported of one object before its call returns (native/trace/record/record.h)."""
MOST_AFTER = 64
"""Most blocks reported of one object after the call: tables have one for each column."""
MOST_OF_ONE = 256
"""Most blocks reported of an object that a user names, or of other living objects."""
MOST_OWNERS = 16
MOST_ASKED = 1000
"""Most living objects of one type, the youngest, that are searched for some bytes."""
MOST_FIXED = 4096
"""Most objects whose blocks are kept."""

AXES_TOLD = 4
Row = tuple[int, int, int, int, str, int, int, tuple[int, ...], tuple[int, ...]]
"""Start, extent in bytes, bytes of the elements, bytes of one, NumPy's letter with a unit of time, flags
(native/objects/spans.h), the address of the element with all indices 0, shape and
strides; () with more axes than are reported."""


def prepare() -> bool:
    """Load the adapters of imported libraries, unrecorded, as self tests call them; whether any is new."""
    return shared().wake()


def spans(x: Any) -> list[Row] | None:
    """The blocks of `x`; None if no adapter knows its type."""
    adapter = shared().known(type(x))
    if adapter is None:
        return None
    linked = SPAN_LINKED if _links(_last_owner(x)) else 0
    return [(*row[:5], row[5] | linked, *row[6:]) for row in _rows(adapter, x, MOST_OF_ONE)]


def _last_owner(x: Any) -> Any:
    """The last owner of the bytes of `x`, if its adapter and those of its owners report it."""
    owner = x
    for _ in range(MOST_OWNERS):
        adapter = shared().known(type(owner))
        held = adapter.holds(owner) if adapter is not None else ()
        if len(held) != 1:
            break
        owner = held[0][1]
    return owner


def linking() -> frozenset[str]:
    """Imported libraries with an allocator linked into them."""
    return frozenset(one.library for one in shared().awake if one.links_allocator)


def _links(x: Any) -> bool:
    """Whether `x` is of such a library and unknown to adapters, which report it for their objects."""
    return type_module(type(x)).partition(".")[0] in linking() and shared().known(type(x)) is None


class Others:
    """The blocks of other living objects, which are no part of `x`, an object that a user names.

    Reads each object once that the gc tracks and an adapter knows.
    """

    def __init__(self, x: Any) -> None:
        self._x: Any = x
        self._extents: list[tuple[int, int]] | None = None

    def hold(self, start: int, size: int) -> bool:
        """Whether one of them contains all these bytes."""
        if self._extents is None:
            parts = own_parts(self._x)
            rows = (row for one in _living() if id(one) not in parts for row in spans(one) or ())
            self._extents = [(row[0], row[0] + row[1]) for row in rows]
        return any(low <= start and start + size <= high for low, high in self._extents)


def _living() -> Iterator[Any]:
    """The youngest objects of each type that an adapter knows, so that a frequent type hides no other."""
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
    """The callable for the hooks: `spans`, as a tuple for types that may be read after the call as well.
    With a number it returns the blocks after that many.

    For one trace only: adapters are cached by a type's id, and the trace keeps the type alive
    (native/trace/record/interned.h).
    """
    known: dict[int, tuple[Adapter | None, bool]] = {}
    fixed: dict[int, tuple[Any, list[Row]]] = {}

    def asked(x: Any, after: int = 0) -> list[Row] | tuple[Row, ...] | None:
        kind = type(x)
        try:
            adapter, steady = known[id(kind)]
        except KeyError:
            adapter, steady = known[id(kind)] = _telling(kind)
        if adapter is None:
            return None
        if type_name(kind) in adapter.fixed:
            rows = _kept(fixed, adapter, x)
            if after:
                return rows[after:]
            return rows if len(rows) <= MOST else _rows(adapter, x, MOST)
        if after:
            return _rows(adapter, x, MOST_AFTER)[after:]
        return tuple(_rows(adapter, x, MOST)) if steady else _rows(adapter, x, MOST)

    return asked


def _kept(fixed: dict[int, tuple[Any, list[Row]]], adapter: Adapter, x: Any) -> list[Row]:
    """The blocks of an object that has the same ones as long as it lives: libraries pass it on many times.

    Only a weak reference is kept, so an address that another object has by now is not taken for it.
    """
    held, rows = fixed.get(id(x), (None, []))
    if held is None or held() is not x:
        if len(fixed) >= MOST_FIXED:
            fixed.clear()
        rows = _rows(adapter, x, MOST_AFTER)
        fixed[id(x)] = weakref.ref(x), rows
    return rows


def _telling(kind: type) -> tuple[Adapter | None, bool]:
    """The adapter for objects of a type, if they can have elements; whether their spans never change."""
    adapter = shared().known(kind)
    if adapter is None or type_name(kind) in adapter.bare:
        return None, False
    return adapter, type_name(kind) in adapter.steady


def _rows(adapter: Adapter, x: Any, most: int) -> list[Row]:
    """The first `most` of its blocks; if there are more, each has a flag for it."""
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
    """The block that `x` exports by the buffer protocol, if its type does so in C; else None.

    Only for an object that a user names, never in a hook: an exported buffer cannot be resized meanwhile.
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
    """The bytes that the struct of `x` describes: a str exports no buffer."""
    row = _native.own_span(x)
    return None if row is None else [row]


def _row(block: Elements, linked: int) -> Row:
    extent = block.range
    size = block.size * block.itemsize_bytes
    flags = linked | (SPAN_READONLY if block.readonly else 0) | (SPAN_C if _is_contiguous(block) else 0)
    told = 0 < len(block.shape) <= AXES_TOLD
    shape, strides = (block.shape, block.strides_bytes) if told else ((), ())
    letter = _letter(block.typestr) + _unit(block)
    return (
        extent.start, extent.bytes, size, block.itemsize_bytes, letter, flags, block.address, shape, strides,
    )  # fmt: skip


def _plain(extent: Range, linked: int) -> Row:
    return (extent.start, extent.bytes, extent.bytes, 1, "V", SPAN_C | linked, extent.start, (), ())


def _is_contiguous(block: Elements) -> bool:
    """Whether it is in C order; an axis of one element may have any stride."""
    step = block.itemsize_bytes
    for length, stride in zip(reversed(block.shape), reversed(block.strides_bytes), strict=True):
        if length > 1 and stride != step:
            return False
        step *= length
    return True


def _unit(block: Elements) -> str:
    """ "Mns" for dates as "timestamp[ns]", "ms" for durations in seconds, as the library names the type."""
    found = _TIMED.match(block.format)
    return (_DATES.get(found[1], "m") + _DAY.get(found[2], found[2])) if found else ""


def _letter(typestr: str) -> str:
    """NumPy's kind letter of "<f8", or of a format of the struct module or PEP 3118 ("Zf": complex)."""
    if typestr[:1] == "Z":
        return "c"
    if len(typestr) > 1:
        return next((one for one in typestr if one in "biufcSUVOmM"), "V")
    return next((kind for kind, letters in _STRUCT_LETTERS.items() if typestr in letters), "V")
