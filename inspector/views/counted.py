"""Draws the C-API calls that a trace counted but did not record."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.amounts import counted
from inspector.facts.conversion import Trace
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Block, Fold, Line, Table, text

PAGE = "docs/reference/traces.md#counted"
SHOWN = 3


def of_counted(fact: Trace) -> Iterator[Block]:
    """How often each function was called, and by which extension."""
    if isinstance(fact.counted, Unknown):
        yield Line("counted", text(f"not known: {fact.counted.reason}", "dim"), link=PAGE)
    elif fact.counted:
        calls = sum(row.times for row in fact.counted)
        moved = "" if fact.grade == "count" else " in which no value crosses"
        head = Line("counted", text(f"{counted(calls, 'call')} of the C API{moved}"), link=PAGE)
        rows = tuple(
            (text(row.function, "native"), text(f"{row.times:,}"), text(row.module, "dim"))
            for row in fact.counted
        )
        yield Fold(head, (Table(("function", "times", "called by"), rows, (1,)),), SHOWN)
