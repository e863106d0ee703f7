"""A budget of memory for a block of code."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
from typing import Final

from inspector._native import Subject
from inspector.errors import InspectorError
from inspector.facts.account import Account, grown
from inspector.facts.amounts import size
from inspector.objects.ownership.rows import type_name
from inspector.objects.ownership.shown_paths import path_of
from inspector.objects.probes.account import accounted
from inspector.sessions.growth.sampled import Sampled
from inspector.verdicts.answers.growth import asked_for
from inspector.verdicts.differences import grown_most

IN_USE: Final = ("objects", "buffers", "lost", "r", "blocks", "mapped", "shared", "unexplained")
"""Rows of the account: not free memory that an allocator keeps, nor libraries and files."""
MOST_SHOWN: Final = 3
"""Objects whose path the message tells, a walk of the heap each."""


class MemoryBudget:
    """The block: what its end has more in use than its beginning, by the account, is at most `most` bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._before: Account | None = None
        self._large = dict[int, int]()

    def __enter__(self) -> MemoryBudget:
        gc.collect()
        self._before, large = accounted()
        self._large = {one.address: bytes_ for one, bytes_ in large}
        self._sampled = Sampled()
        self._sampled.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self._sampled.__exit__()
        if kind is not None or self._before is None:
            return
        gc.collect()
        after, large = accounted()
        left = _in_use(after) - _in_use(self._before)
        exceeded = self._exceeded(left, after, large) if left > self._most else None
        del large  # a traceback would keep the objects
        if exceeded:
            raise exceeded

    def _exceeded(self, left: int, after: Account, large: list[tuple[Subject, int]]) -> InspectorError:
        assert self._before is not None
        rows = [row for row in grown(self._before, after) if row.kind in IN_USE]
        return InspectorError(
            f"{size(left)} more are in use at the end of the block; its budget is {size(self._most)}.",
            slug="memory-budget",
            why=grown_most(rows) + self._holders(large) + self._asked(),
            do="let go of what holds them, or give the block a larger budget",
        )

    def _asked(self) -> str:
        """Which lines asked for it."""
        return "".join(f". {one.text.rstrip('.')}" for one in asked_for(self._sampled.growth()))

    def _holders(self, large: list[tuple[Subject, int]]) -> str:
        """The largest new objects: larger than the least of the largest before, and a tenth of the budget."""
        least = max(min(self._large.values(), default=0), self._most // 10)
        new = [row for row in large if row[0].address not in self._large and row[1] > least]
        shown = [(type_name(one), bytes_, path_of(one, {})) for one, bytes_ in new[:MOST_SHOWN]]
        held = [f"{name} of {size(bytes_)} held by {path}" for name, bytes_, path in shown if path]
        return f". The largest: {'; '.join(held)}" if held else ""


def _in_use(account: Account) -> int:
    return sum(account.row(kind).resident_bytes for kind in IN_USE)
