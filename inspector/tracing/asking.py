"""What the hooks ask of objects whose struct the extension does not know: the adapters' answer, as rows."""

from __future__ import annotations

from typing import Any

from inspector.adapters.registry import shared

SPAN_C, SPAN_READONLY, SPAN_LINKED, SPAN_TOLD = 1, 4, 16, 32
_STRUCT_LETTERS = {"b": "?", "i": "bhilqn", "u": "BHILQN", "f": "efd"}
MOST = 4
"""Blocks told of one object."""

Row = tuple[int, int, int, int, str, int]
"""Start, extent in bytes, bytes of the elements, bytes of one, NumPy's letter, flags (native/spans.h)."""


def prepare() -> None:
    """Wake the adapters before anything is recorded: their self tests call the libraries."""
    shared().wake()


def spans(x: Any) -> list[Row] | None:
    """The blocks of `x`; None where no adapter knows its type."""
    adapter = shared().known(type(x))
    if adapter is None:
        return None
    rows: list[Row] = []
    linked = SPAN_LINKED if adapter.links_allocator and adapter.owns(x) is not False else 0
    linked |= SPAN_TOLD
    for block in adapter.elements(x)[:MOST]:
        extent = block.range
        flags = SPAN_READONLY if block.readonly else 0
        whole = extent.bytes == block.size * block.itemsize_bytes
        letter = _letter(block.typestr)
        size = block.size * block.itemsize_bytes
        rows.append((extent.start, extent.bytes, size, block.itemsize_bytes, letter, flags | whole | linked))
    return rows or [(e.start, e.bytes, e.bytes, 1, "V", SPAN_C | linked) for e in adapter.spans(x)[:MOST]]


def _letter(typestr: str) -> str:
    """NumPy's kind of "<f8", or of a letter of the struct module."""
    if len(typestr) > 1:
        return next((one for one in typestr if one in "biufcSUVOmM"), "V")
    return next((kind for kind, letters in _STRUCT_LETTERS.items() if typestr in letters), "V")
