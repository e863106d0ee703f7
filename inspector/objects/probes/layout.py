"""The memory layout of an object's elements, and the first few if their pages are in memory."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector import _native
from inspector.adapters.base import Adapter, Elements, blocks_of
from inspector.adapters.registry import adapter_of
from inspector.facts.layout import Layout
from inspector.facts.unknown import Unknown
from inspector.objects.layouts import strides

MOST_SHOWN = 6
MOST_ELEMENT_BYTES = 64
MOST_BYTES_AT_ONCE = 256
CODED = Unknown("the block keeps something else for them, as codes")


def layout(subject: _native.Subject) -> Layout | Unknown | None:
    """The column `layout`; None if it does not apply, Unknown for several blocks of bytes."""
    adapter = adapter_of(type(subject.get()))
    blocks = adapter.elements(subject.get()) if adapter is not None else ()
    if adapter is None or not blocks:
        return None
    many = blocks_of(adapter, subject.get(), blocks)
    if many > 1:
        return Unknown(f"{many:,} blocks, each with a layout of its own")
    (block,) = blocks
    meant = adapter.encoded(subject.get()) if block.numeric else None
    if meant is not None and meant[1] != block.shape:
        return Unknown(f"its block keeps less than the elements of {meant[0]} {meant[1]}")
    shape, steps, itemsize = block.shape, block.strides_bytes, block.itemsize_bytes
    return Layout(
        shape=shape,
        strides_bytes=steps,
        itemsize_bytes=itemsize,
        format=block.format if meant is None else meant[0],
        c_contiguous=strides.is_contiguous(shape, steps, itemsize, "C"),
        f_contiguous=strides.is_contiguous(shape, steps, itemsize, "F"),
        aligned=block.aligned,
        words=strides.words(shape, steps, itemsize),
        members=block.members,
        preview=preview(adapter, block) if meant is None else CODED,
    )


def preview(adapter: Adapter, block: Elements) -> tuple[str, ...] | Unknown:
    """The first MOST_SHOWN elements in logical order. Only pages already in memory are read."""
    if block.size == 0:
        return ()
    if not block.numeric or not 0 < block.itemsize_bytes <= MOST_ELEMENT_BYTES:
        return Unknown(f"elements of {block.format} are not numbers")
    if _native.views_freed(*_ends(block)):
        return Unknown("its storage was freed: inspector.leaks saw it")
    shown = []
    for raw in _raw_elements(list(first_addresses(block, MOST_SHOWN)), block.itemsize_bytes):
        if raw is None:
            return Unknown("not in memory: reading would bring its pages in")
        text = adapter.text(block, raw)
        if isinstance(text, Unknown):
            return text
        shown.append(text)
    return tuple(shown)


def _ends(block: Elements) -> tuple[int, int]:
    span = block.range
    return span.start, span.stop


def _raw_elements(addresses: list[int], itemsize: int) -> Iterator[bytes | None]:
    """The bytes of each element, None if its page is not in memory; neighbours are read at once."""
    first, total = addresses[0], len(addresses) * itemsize
    if total <= MOST_BYTES_AT_ONCE and addresses == list(range(first, first + total, itemsize)):
        raw = _native.read_present(first, total)
        yield from [raw] if raw is None else (raw[i : i + itemsize] for i in range(0, total, itemsize))
        return
    for address in addresses:
        yield _native.read_present(address, itemsize)


def first_addresses(block: Elements, most: int) -> Iterator[int]:
    """Addresses of the first `most` elements in logical order (last axis fastest)."""
    for number in range(min(most, block.size)):
        address, rest = block.address, number
        for length, step in zip(block.shape[::-1], block.strides_bytes[::-1], strict=True):
            rest, index = divmod(rest, length)
            address += index * step
        yield address
