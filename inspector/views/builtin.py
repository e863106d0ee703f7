"""Draws a builtin function or method: the PyMethodDef row it was made from."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.object import Builtin
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Block, Line, Span, text
from inspector.views.place import flag_text, place_spans
from inspector.views.view import blocks


@blocks.register
def builtin(fact: Builtin) -> tuple[Block, ...]:
    """Lines: name, flags, C function and doc; the object it is bound to; its vectorcall function."""
    return tuple(_blocks(fact))


def _blocks(fact: Builtin) -> Iterator[Block]:
    row, doc = fact.method, f'  "{fact.method.doc}"' if fact.method.doc else ""
    how = flag_text(row.flags) or (f"wraps {fact.slot}" if fact.slot else "")
    yield Line(
        "method",
        (Span(row.name, "name"), Span(f"  {how}"), Span("  "), *place_spans(row.place), Span(doc, "dim")),
        explain="Its PyMethodDef row: name, calling convention, C function, first line of the doc.",
        link="docs/reference/card.md#methods",
    )
    bound = str(fact.bound_to)
    yield Line(
        "bound to",
        (Span(bound, "dim" if isinstance(fact.bound_to, Unknown) else "fact"), Span(f"  {fact.kind}", "dim")),
        explain="The object or type it receives as first argument, or the module it belongs to.",
        link="docs/reference/card.md#builtin",
    )
    called = text(str(fact.vectorcall), "dim") if isinstance(fact.vectorcall, Unknown) else None
    yield Line(
        "called",
        called or place_spans(fact.vectorcall),
        explain="The vectorcall function (PEP 590): how CPython passes the arguments.",
        link="docs/reference/card.md#builtin",
    )
