"""The quick referrers of an object, and the shortest name that a user could type for it."""

# SPDX-License-Identifier: MIT
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements, type_module
from inspector.adapters.registry import adapter_of
from inspector.facts.memory import Range
from inspector.facts.refs import Owner
from inspector.objects.call_site import is_users
from inspector.objects.layouts.strides import is_contiguous
from inspector.objects.ownership.layouts import layouts
from inspector.objects.ownership.naming import Context, note_names, owner
from inspector.objects.ownership.rows import Row, known_names, rows

GLANCE_WORDS = 60_000
"""Words that the default card reads in frames, namespaces and what they name: about 50 microseconds."""
MOST_SHOWING = 40
"""Most named objects whose blocks are compared with a range of bytes."""
MOST_COLUMNS = 40
MOST_FRAMES = 8
_PLAIN = ("", "numpy")
"""Libraries whose objects are found as holders of their bytes: they are not searched for."""
_NO_LIBRARY = ("builtins", "numpy", "__main__", "")
"""Modules of types whose objects show no bytes of a library."""
OWN_CODE = __file__.rpartition("objects/ownership/")[0]

_NAMED = re.compile(r"(?:global|local) `([^`]+)`")
_RANK = ("global", "local", "item", "attribute")
"""Kinds of owners by which an object can be named, the best first."""


def namespaces(context: Context) -> list[dict[str, Any]]:
    """The dicts with the user's names: `__main__`, and those in it that the context knows."""
    main = sys.modules.get("__main__")
    first = [vars(main)] if type(main) is type(sys) else []
    known = [value for space in first for value in list(space.values()) if type(value) is dict]
    return first + [value for value in known if id(value) in context.names]


def quick_rows(subject: _native.Subject, context: Context) -> list[Row]:
    """The rows of the quick referrers; the names of their holders go into `context`."""
    spaces = [*namespaces(context), vars(sys)]
    seen, known, _complete = _native.quick_referrers(
        subject, tuple(spaces), layouts(), OWN_CODE, GLANCE_WORDS
    )
    note_names(known_names(known), context)
    return rows(seen)


def named_rows(subject: _native.Subject, context: Context) -> list[tuple[Row, Owner]]:
    """The quick referrers of an object, each with its words."""
    return [(row, one) for row in quick_rows(subject, context) if (one := owner(row, context)) is not None]


def typed_name(found: list[tuple[Row, Owner]]) -> str:
    """The shortest text that a user could type for the object: `x`, `cache['k']`; "" if none is known."""
    ranked = [
        (_RANK.index(one.kind), text) for _, one in found if one.kind in _RANK and (text := _typed(one))
    ]
    return min(ranked, key=lambda pair: (pair[0], len(pair[1])), default=(0, ""))[1]


def _typed(one: Owner) -> str:
    """What a user types for the place where an owner keeps the object; "" if that is no expression."""
    if not one.certain:
        return ""
    if one.kind in ("global", "local"):
        return one.key if one.key.isidentifier() else ""
    named = _NAMED.search(one.holder)
    return named[1] + one.key if named and one.key[:1] in ("[", ".") else ""


def whole_view(found: list[tuple[Row, Owner]], span: Range, besides: set[int]) -> tuple[str, Any]:
    """(name, object) of a named array among the referrers of a base that shows all of its bytes `span`.

    Of several, arrays in C order come first, then short names. ("", None) if none is found.
    """
    candidates: list[tuple[bool, int, str, Any]] = []
    for row, one in found:
        named = _NAMED.search(one.holder) if one.kind == "base" else None
        if named is None or row.holder is None or one.address in besides:
            continue
        other = row.holder.get()
        adapter = adapter_of(type(other))
        blocks = adapter.elements(other) if adapter is not None else ()
        if len(blocks) == 1 and blocks[0].range == span:
            candidates.append((not _is_in_order(blocks[0]), len(named[1]), named[1], other))
    best = min(candidates, key=lambda one: one[:3], default=(False, 0, "", None))
    return best[2], best[3]


def views_of(found: list[tuple[Row, Owner]], besides: set[int]) -> tuple[str, ...]:
    """The user's names of arrays and memoryviews among the referrers of their base."""
    bases = (one for _, one in found if one.kind == "base" and one.address not in besides)
    return tuple(dict.fromkeys(match[1] for one in bases if (match := _NAMED.search(one.holder))))


def _is_in_order(block: Elements) -> bool:
    return is_contiguous(block.shape, block.strides_bytes, block.itemsize_bytes, "C")


def showing(spans: Sequence[Range], besides: set[int], context: Context) -> tuple[str, Any]:
    """(name, object) of a named object of a library that shows all bytes of `spans`: "df['v']" and the table.

    `besides`: ids of objects that are not meant. ("", None) if none is found among the first MOST_SHOWING.
    """
    left, adapters = MOST_SHOWING, dict[int, Adapter | None]()
    for pairs in (*_locals(), *(list(space.items()) for space in namespaces(context))):
        for name, value in pairs:
            kind = type(value)
            if id(value) in besides or type(name) is not str or name.startswith("_") or not left:
                continue
            if id(kind) not in adapters:
                adapters[id(kind)] = _library_adapter(kind)
            if (adapter := adapters[id(kind)]) is None:
                continue
            left -= 1
            if found := _shows(name, value, adapter, spans):
                return found, value
    return "", None


def _locals() -> Iterator[tuple[tuple[str, Any], ...]]:
    """The variables of the user's functions that run now, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    left = MOST_FRAMES
    while frame is not None and left:
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED and is_users(frame.f_code.co_filename):
            yield tuple(_native.frame_locals(frame))
            left -= 1
        frame = frame.f_back


def _library_adapter(kind: type) -> Adapter | None:
    """The adapter of a library besides NumPy; None for a type of Python's, or without an adapter."""
    top = type_module(kind).partition(".")[0]
    if top in _NO_LIBRARY or top in sys.stdlib_module_names:
        return None
    adapter = adapter_of(kind)
    return None if adapter is None or adapter.library in _PLAIN else adapter


def _shows(name: str, value: Any, adapter: Adapter, spans: Sequence[Range]) -> str:
    """The text for the part of a named object that covers the spans; "" if none does."""
    blocks = adapter.elements(value)
    if not all(_covers(blocks, span) for span in spans):
        return ""
    told = adapter.columns(value, MOST_COLUMNS) if len(spans) == 1 else None
    if told is None:
        return name
    columns, total, _ = told
    met = [column.name for column in columns if _covers(column.elements, spans[0])]
    return f"{name}[{met[0]!r}]" if len(met) == 1 and total == len(columns) else name


def _covers(blocks: Any, span: Range) -> bool:
    return any(block.range.start <= span.start and span.stop <= block.range.stop for block in blocks)
