"""The state word of an object, from the values of its layers; the first matching rule decides."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Sequence
from typing import Final

from inspector.adapters.base import Elements
from inspector.adapters.told import DERIVED
from inspector.facts.materialization import Layer, Residency, State, Value
from inspector.facts.unknown import Unknown
from inspector.objects.layers.stack import Stack

OF_VALUE: Final[dict[Value, State]] = {
    "closed": "closed",
    "consumed": "consumed",
    "pending": "pending",
    "abstract": "abstract",
}
"""Values of a layer that decide alone, in any layer of the stack."""

OF_TITLE: Final[tuple[tuple[str, State], ...]] = (("borrowed", "borrowed"), ("cow", "copy-on-write pending"))
RESERVED_BYTES = 1 << 16
"""A smaller block is never called reserved or zero-page: malloc's own pages change too often."""


def headline(of: Stack, pages: Residency | Unknown) -> State | Unknown:
    """The state of the object: as the adapter reports, else by the first matching rule."""
    if of.told.state is not DERIVED:
        return of.told.state
    return _of_values(of.layers) or _of_bytes(of, pages)


def _of_values(layers: Sequence[Layer]) -> State | None:
    value = _value(layers)
    if value == "partial":
        return "partially materialized"
    if value in ("lazy", *OF_VALUE):
        return OF_VALUE.get(value, "lazy")
    return "on device" if "device" in [layer.storage for layer in layers] else None


def _value(layers: Sequence[Layer]) -> Value:
    """The wrapper's value; but the parts' if it claims that the elements exist and no part has any."""
    known = [layer.value for layer in layers if not isinstance(layer.value, Unknown)]
    first, *parts = known or ["computed"]
    if first == "computed" and parts and "computed" not in parts:
        return "partial" if "partial" in parts else parts[0]
    return first


def _of_bytes(of: Stack, pages: Residency | Unknown) -> State | Unknown:
    buffers = [layer for layer in of.layers if layer.spans] or of.layers
    titles = [layer.title for layer in of.layers]
    for title, state in OF_TITLE:
        if title in titles:
            return state
    if "file-mapped" in [layer.storage for layer in buffers]:
        return "memory-mapped"
    if "foreign" in titles:
        return "shared-foreign"
    if is_virtual(of.blocks):
        return "virtual"
    if "view" in titles:
        return "view"
    return _of_pages(pages) or _plain(titles)


def _of_pages(pages: Residency | Unknown) -> State | None:
    if isinstance(pages, Unknown) or pages.span_bytes < RESERVED_BYTES:
        return None
    if pages.state == "zero-page":
        return "zero-page"
    return "reserved-not-resident" if pages.state == "reserved" else None


def _plain(titles: Iterable[object]) -> State | Unknown:
    unknown = [title for title in titles if isinstance(title, Unknown)]
    return unknown[0] if unknown else "owned"


def is_virtual(blocks: Sequence[Elements]) -> bool:
    """Whether an axis of more than one element has stride 0."""
    return any(
        length > 1 and stride == 0 and block.size
        for block in blocks
        if 0 in block.strides_bytes
        for length, stride in zip(block.shape, block.strides_bytes, strict=True)
    )
