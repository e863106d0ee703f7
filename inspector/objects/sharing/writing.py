"""What a write through an object does to bytes that it shares: by the rules of its library."""

# SPDX-License-Identifier: MIT
import io

from inspector import _native
from inspector.adapters.base import Column, type_name
from inspector.adapters.files import shares_its_bytes
from inspector.adapters.registry import adapter_of
from inspector.facts.unknown import Unknown
from inspector.objects.sharing.meetings import Blocks

IN_PLACE = ("", "numpy", "torch", "array", "mmap", "ctypes", "cffi")
"""Libraries whose objects write to their own bytes, where these are writable."""
NEVER = ("pyarrow",)
"""Libraries whose objects are never written."""


def writing(subject: _native.Subject, blocks: Blocks, columns: tuple[Column, ...]) -> str:
    """One of "in place", "refused", "copies" (copy-on-write), "?". `columns`: those of a table that share."""
    kind = type(subject.get())
    adapter = adapter_of(kind)
    library = adapter.library if adapter is not None else "?"
    readonly = {block.readonly for block in blocks}
    if kind is io.BytesIO:
        return "copies" if shares_its_bytes(subject.get()) else "in place"
    if library in NEVER or (library in IN_PLACE and readonly == {True}):
        return "refused"
    if library in IN_PLACE and readonly == {False}:
        return "in place"
    if library == "pandas":
        return _pandas(type_name(kind), subject, blocks, columns)
    return "?"


def _pandas(name: str, subject: _native.Subject, blocks: Blocks, columns: tuple[Column, ...]) -> str:
    """pandas copies a block before the first write if another pandas object refers to it."""
    from inspector.adapters.pandas_frames import cow_holders
    from inspector.adapters.pandas_layers import writes_copy

    shared = tuple(block for column in columns for block in column.elements) or blocks
    readonly = {block.readonly for block in shared if block.protocol != "Arrow buffer"}
    if name.endswith("Index"):
        return "refused"
    if name not in ("DataFrame", "Series"):
        return "?"
    held = [(_of_arrow(column.elements), column.holders) for column in columns]
    held = held or [(_of_arrow(blocks), cow_holders(subject.get()))]
    if not writes_copy() or any(isinstance(count, Unknown) for _, count in held):
        return "?"
    copies = {arrow or (isinstance(count, int) and count > 1) for arrow, count in held}
    if copies == {True}:
        return "copies"
    return "in place" if copies == {False} and readonly == {False} else "?"


def _of_arrow(blocks: Blocks) -> bool:
    """Whether a column's bytes are Arrow's: pandas never writes to them, it makes new ones."""
    return bool(blocks) and all(block.protocol == "Arrow buffer" for block in blocks)
