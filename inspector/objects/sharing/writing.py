"""What a write through an object does to bytes that it shares: by the rules of its library."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from inspector import _native
from inspector.adapters.base import Column, type_name
from inspector.adapters.registry import adapter_of
from inspector.objects.sharing.meetings import Blocks

IN_PLACE = ("", "numpy", "torch", "array", "mmap", "ctypes", "cffi")
"""Libraries whose objects write to their own bytes, where these are writable."""
NEVER = ("pyarrow",)
"""Libraries whose objects are never written."""


def writing(subject: _native.Subject, blocks: Blocks, columns: tuple[Column, ...]) -> str:
    """ "in place", "refused", "copies" (copy-on-write) or "?". `columns`: those that share, of a table."""
    kind = type(subject.get())
    adapter = adapter_of(kind)
    library = adapter.library if adapter is not None else "?"
    readonly = {block.readonly for block in blocks}
    if library in NEVER or (library in IN_PLACE and readonly == {True}):
        return "refused"
    if library in IN_PLACE and readonly == {False}:
        return "in place"
    if library == "pandas":
        return _pandas(type_name(kind), subject, readonly, columns)
    return "?"


def _pandas(name: str, subject: _native.Subject, readonly: set[bool], columns: tuple[Column, ...]) -> str:
    """pandas copies a block before the first write if another pandas object refers to it."""
    from inspector.adapters.pandas_frames import cow_holders
    from inspector.adapters.pandas_layers import writes_copy

    if name.endswith("Index"):
        return "refused"
    if name not in ("DataFrame", "Series"):
        return "?"
    holders = {column.holders for column in columns} or {cow_holders(subject.get())}
    counts = {count for count in holders if isinstance(count, int)}
    if len(counts) < len(holders) or not writes_copy():
        return "?"
    if min(counts) > 1:
        return "copies"
    return "in place" if max(counts) <= 1 and readonly == {False} else "?"
