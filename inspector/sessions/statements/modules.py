"""Values whose bytes an object keeps that does not show them as its own: a weight of torch's module, a
gradient, the state of an optimizer."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import itemgetter
from types import FrameType
from typing import Any, Final

from inspector.adapters.base import Adapter
from inspector.adapters.registry import adapter_of
from inspector.objects.sharing.meetings import Blocks, meetings
from inspector.sessions.statements import values
from inspector.sessions.statements.elements import bytes_of

MOST: Final = 4096
"""Tensors of a module."""


def module_of(frame: FrameType, names: Iterable[str], blocks: Blocks) -> values.Related | None:
    """How a value relates to the first of these names whose object refers to the value's bytes; None if
    none does."""
    for name in names:
        found = values.named(frame, name)
        adapter = adapter_of(type(found[0])) if found else None
        if adapter is None:
            continue
        for of, kept in _kept(name, adapter, found[0]):
            if met := meetings((kept, blocks)).get((0, 1), []):
                mine = {id(one): one for _, one in met}
                return values.Related("view", of, bytes_of(tuple(mine.values())), "", False)
    return None


def _kept(name: str, adapter: Adapter, x: Any) -> Iterator[tuple[str, Blocks]]:
    """What it is called, and its blocks; gradients are read only where the pieces met nothing."""
    yield name, tuple(block for _, some in islice(adapter.pieces(x), MOST) for block in some)
    for what, rows in groupby(islice(adapter.beside(x), MOST), itemgetter(0)):
        yield f"the {what} of {name}", tuple(block for _, some in rows for block in some)
