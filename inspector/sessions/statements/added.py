"""Columns that a statement gave to a table it changed: `df["z"] = df["x"] + 1`."""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping
from dataclasses import replace
from types import FrameType
from typing import Any

from inspector.adapters.base import Elements
from inspector.adapters.registry import adapter_of
from inspector.objects.sharing.chosen import cast_of
from inspector.objects.sharing.meetings import Blocks, meetings
from inspector.sessions.statements.casts import like_one_of
from inspector.sessions.statements.elements import bytes_of, elements_of
from inspector.sessions.statements.values import HAS, Before, Related, among, found_in, named, was_replaced


def added(
    value: Any, name: str, has: Blocks, operands: Mapping[str, Before], frame: FrameType
) -> tuple[Blocks, Related] | None:
    """The blocks that the table of a name got, and how they relate to the operands; None if it got none."""
    had = operands[name].blocks
    new = _new(value, had, has)
    if not new:
        return None
    if was_replaced(operands[name], has):
        return new, Related("apart", name, 0, "equal", False)
    live = ((other, named(frame, other)) for other in operands if other != name)
    own = {one.range.start for one in had}
    given = {other: elements_of(found[0]) for other, found in live if found}
    given[name] = tuple(one for one in has if one.range.start in own)
    found = _related(new, given)
    left = {one.range.start for one in has}
    gone = tuple(one for one in had if one.range.start not in left)
    if found.values != "equal" and gone and HAS.issuperset(found_in(one, gone) for one in new):
        return new, Related("apart", name, 0, "equal", False)  # copied before it was written (copy-on-write)
    if gone and found.values == "different":  # what was there may be what is there now, under another name
        found = replace(found, values="", compared_all=False)
    return new, found


def _new(value: Any, had: Blocks, has: Blocks) -> Blocks:
    """The blocks of a table that lie where none of its blocks lay before, nor a part of one: what is left of
    a block when a column is deleted."""
    adapter = adapter_of(type(value))
    if adapter is None or (adapter.columns(value, 0) is None and adapter.library != "xarray"):
        return ()
    before = {one.range.start for one in had}
    other = (one for one in has if one.range.start not in before and one.range.bytes)
    return tuple(one for one in other if not any(_is_part(one, whole) for whole in had))


def _is_part(one: Elements, whole: Elements) -> bool:
    return whole.range.start <= one.range.start and one.range.stop <= whole.range.stop


def _related(new: Blocks, given: dict[str, Blocks]) -> Related:
    """How new blocks relate to what the statement named, and to what the table had and still has."""
    for name, some in given.items():
        if met := meetings((some, new)).get((0, 1), []):
            return Related("view", name, bytes_of(tuple(mine for _, mine in met)), "", False)
    for name, some in given.items():
        alike = [like_one_of(one, some) for one in new]
        if False not in alike:
            return Related("apart", name, 0, "equal", None not in alike)
        if len(new) == 1 and any(cast_of(one, new[0]) for one in some):
            return Related("apart", name, 0, "equal", False)
    return among(Related("apart", next(iter(given)), 0, "", False), new, given)
