"""Values whose bytes an object keeps that does not show them as its own: a weight of torch's module, a
gradient, the state of an optimizer."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable
from itertools import islice
from types import FrameType
from typing import Final

from inspector.adapters.base import Elements
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
        pieces = islice(((name, some) for _, some in adapter.pieces(found[0])), MOST)
        beside = islice(((f"the {what} of {name}", some) for what, some in adapter.beside(found[0])), MOST)
        for of, kept in _by_word([*pieces, *beside]).items():
            if met := meetings((tuple(kept), blocks)).get((0, 1), []):
                mine = {id(one): one for _, one in met}
                return values.Related("view", of, bytes_of(tuple(mine.values())), "", False)
    return None


def _by_word(rows: Iterable[tuple[str, Blocks]]) -> dict[str, list[Elements]]:
    found = dict[str, list[Elements]]()
    for word, blocks in rows:
        found.setdefault(word, []).extend(blocks)
    return found
