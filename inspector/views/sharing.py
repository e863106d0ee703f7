"""Draws whether two objects share bytes: how many, none, or why it is unknown."""

# SPDX-License-Identifier: MIT
from inspector.facts.sharing import Pair, Sharing
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Line, Span
from inspector.views.view import blocks

EXPLAIN = "Bytes that belong to elements of both: a write through one changes the other."


@blocks.register
def sharing(fact: Sharing) -> tuple[Block, ...]:
    """One line: how many bytes, and the common extent."""
    return (Line("shares", _said(fact), explain=EXPLAIN, link="docs/glossary.md#overlap"),)


@blocks.register
def pair(fact: Pair) -> tuple[Block, ...]:
    """The same line, with both names."""
    return (
        Line(
            "shares",
            (Span(f"{fact.left} · {fact.right}  "), *_said(fact.sharing)),
            explain=EXPLAIN,
            link="docs/glossary.md#overlap",
        ),
    )


def _said(fact: Sharing) -> tuple[Span, ...]:
    if isinstance(fact.overlap, Unknown):
        return (
            Span("may share" if fact.ranges else str(fact.overlap), "warn" if fact.ranges else "dim"),
            *_why(fact),
        )
    if not fact.overlap:
        return (Span("nothing", "nothing"), Span("  no byte belongs to both", "dim"))
    if isinstance(fact.overlap_bytes, Unknown):
        return (Span("yes"), Span(f"  {fact.overlap_bytes}", "dim"))
    return (Span(size(fact.overlap_bytes)), Span(f"  {_extent(fact)}", "dim"))


def _why(fact: Sharing) -> tuple[Span, ...]:
    return (Span(f"  {fact.overlap}", "dim"),) if fact.ranges else ()


def _extent(fact: Sharing) -> str:
    """The common extent; larger than the shared bytes if both leave gaps."""
    total = sum(range_.bytes for range_ in fact.ranges)
    places = "" if len(fact.ranges) == 1 else f", in {len(fact.ranges)} places"
    return f"of a common extent of {size(total)}{places}"
