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
    names = {one.operation for one in fact.rules}
    drawn: list[Block] = []
    if len(fact.rules) <= SHOWN:
        for rule in fact.rules:
            call, _, made, release = _row(rule, versions, len(names) > 1)
            drawn += [Line("", call, (*made, *release), _MEANING, _LINK), Prose(text(f"  {rule.did}"))]
    else:
        rows = tuple(_row(rule, versions, True) for rule in fact.rules)
        head = Line("calls", text(f"{len(rows):,}"), (), _MEANING, _LINK)
        drawn.append(Fold(head, (Table(("", "", "bytes made", "release"), rows),), SHOWN))
    drawn += [_count(one) for one in fact.counts]
    return (*drawn, *_folded("disagree", _odd(fact)), *_folded("lost", fact.lost))


def _odd(fact: Rules) -> tuple[tuple[str, ...], ...]:
    return tuple((one.call, one.kind, one.did, f"a trace says: {one.traced}") for one in fact.disagreements)


def _folded(name: str, rows: tuple[tuple[str, ...], ...]) -> Iterator[Block]:
    if rows:
        table = Table(("",) * len(rows[0]), tuple(tuple(text(cell) for cell in row) for row in rows))
        yield Fold(Line(name, text(f"{len(rows):,}")), (table,), 0)


def _row(rule: Rule, versions: int, several: bool) -> tuple[tuple[Span, ...], ...]:
    name = f"{rule.operation}: {rule.call}" if several else rule.call
    made = f"makes {rule.made:.1f} × its bytes  " if rule.made else ""
    same = "" if len(rule.versions) == versions else ", ".join(rule.versions)
    return text(name, "code"), text(rule.did), text(made, "dim"), text(same, "dim")


def _count(one: Count) -> Line:
    said = f"{one.agree:,} as a trace says, {one.disagree:,} not, {one.not_told:,} with no verdict to compare"
    return Line(
        f"{one.library} {one.version}",
        text(f"{counted(one.operations, 'operation')}, {counted(one.cases, 'case')}"),
        text(said, "dim"),
    )


def _sample() -> tuple[Block, ...]:
    rows = (
        Rule("numpy.ravel", "np.ravel(x)", "copy if with gaps, else view", ("1.26.4", "2.4.6"), 0.5),
        Rule("numpy.ravel", "np.ravel(x, order='F')", "view if one axis, else copy", ("2.4.6",), 1.0),
    )
    return blocks(Rules(rows, (Count("numpy", "2.4.6", 1, 12, 12, 0, 0),)))
