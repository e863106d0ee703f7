"""Draws what operations of a library do with bytes: a row a call, then the counts."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from typing import Final

from inspector.facts.amounts import counted
from inspector.facts.catalogue import Count, Rule, Rules
from inspector.views.grammar import Block, Fold, Line, Prose, Span, Table, text
from inspector.views.view import blocks

SHOWN: Final = 16
_LINK: Final = "docs/reference/catalogue.md"
_MEANING: Final = (
    "Each was called; addresses were compared and the source's bytes flipped to see what it did."
)


@blocks.register
def _rules(fact: Rules) -> tuple[Block, ...]:
    versions = len({version for rule in fact.rules for version in rule.versions})
    types = {one.operation.rpartition(".")[0] for one in fact.rules}
    rows: tuple[Block, ...] = tuple(Prose(_row(rule, versions, len(types) > 1)) for rule in fact.rules)
    head = Line("calls", text(f"{len(rows):,}"), (), _MEANING, _LINK)
    drawn = rows if len(rows) <= SHOWN else (Fold(head, rows, SHOWN),)
    counts = tuple(_count(one) for one in fact.counts)
    return (*drawn, *counts, *_folded("disagree", _odd(fact)), *_folded("lost", fact.lost))


def _odd(fact: Rules) -> tuple[tuple[str, ...], ...]:
    return tuple((one.call, one.kind, one.did, f"a trace says: {one.traced}") for one in fact.disagreements)


def _folded(name: str, rows: tuple[tuple[str, ...], ...]) -> Iterator[Block]:
    if rows:
        table = Table(("",) * len(rows[0]), tuple(tuple(text(cell) for cell in row) for row in rows))
        yield Fold(Line(name, text(f"{len(rows):,}")), (table,), 0)


def _row(rule: Rule, versions: int, several: bool) -> tuple[Span, ...]:
    """ "x.astype('int64') is a view in 3.1.1": the call, what it does, and where it is not always so."""
    last = rule.operation.rpartition(".")[2]
    is_named = not several or (f"{last}(" in rule.call and not rule.call.startswith("x"))
    name = rule.call if is_named else f"{rule.operation}: {rule.call}"
    same = "" if len(rule.versions) == versions else f"  in {', '.join(rule.versions)}"
    made = "" if rule.made in (0, 1) else f"  {rule.made:.1f} × its bytes"
    return (*text(name, "code"), *text(f"  {rule.did}"), *text(same + made, "dim"))


def _count(one: Count) -> Line:
    called = f"{counted(one.operations, 'operation')}, {counted(one.cases, 'call')}"
    odd = f", of {one.disagree:,} a trace says something else" if one.disagree else ""
    return Line(f"{one.library} {one.version}", text(called + odd), text(""), _MEANING, _LINK)
