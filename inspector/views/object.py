"""Draws the object itself: its type and where it is defined, its own size, its header."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator

from inspector.facts.native import Field
from inspector.facts.object import Object
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Span, text
from inspector.views.place import few, library_name
from inspector.views.view import blocks


@blocks.register
def object_(fact: Object) -> tuple[Block, ...]:
    """Lines: type, bases, own size; with `-v` the address and the header."""
    return (*_type(fact), *_value(fact), _size(fact), _header(fact))


def _type(fact: Object) -> Iterator[Block]:
    """Type and bases; `object` is left out."""
    in_file = not isinstance(fact.defined_in, Unknown) and "/" in fact.defined_in
    kind = "made at run time" if fact.heap_type else "static"
    where = (
        f"{kind}, in {library_name(fact.defined_in)}" if in_file else f"class statement in {fact.defined_in}"
    )
    if isinstance(fact.defined_in, Unknown):
        where = f"{kind} {fact.defined_in}"
    yield Line(
        "type",
        (Span(fact.type_name, "native" if in_file else "python"), Span(f"  {where}", "dim")),
        explain="The type, by the name in its C struct, and the file or module that defines it.",
        link="docs/reference/card.md#type",
    )
    bases = tuple(name for name in fact.type_mro[1:] if name != "object")
    if bases:
        yield Line(
            "bases",
            text(few(bases, " → ")),
            explain="The types it inherits from, in method resolution order (MRO).",
            link="docs/reference/card.md#type",
        )


def _value(fact: Object) -> Iterator[Block]:
    """With `-v`: the address, and why the headline shows no value."""
    if isinstance(fact.preview, Unknown):
        yield Line("value", text(str(fact.preview), "dim"), verbose=True)
    yield Line("address", text(f"{fact.address:#x}"), verbose=True)


def _size(fact: Object) -> Line:
    unknown = isinstance(fact.size_bytes, Unknown)
    value = (
        Span(str(fact.size_bytes), "dim")
        if isinstance(fact.size_bytes, Unknown)
        else Span(size(fact.size_bytes))
    )
    words = [
        *(["gc tracked"] if fact.gc_tracked is True else []),
        *(["gc untracked"] if fact.gc_tracked is False else []),
        *(["no gc header"] if isinstance(fact.gc_tracked, Unknown) else []),
        *(["interned"] if fact.interned is True else []),
        *(["immortal"] if fact.immortal else []),
    ]
    return Line(
        "object",
        (value, Span(f"  {'' if unknown else 'of its own, '}{' · '.join(words)}", "dim")),
        explain="Bytes of the object itself with its header, not of what it refers to.",
        link="docs/reference/card.md#object",
    )


def _header(fact: Object) -> Fold:
    """With `-v`: the header in a line, then field by field."""
    brief = (
        f"{field.name} {field.value.partition(' ')[2] or field.value}"
        for field in fact.header
        if field.name in ("ob_refcnt", "ob_type", "ob_size", "lv_tag", "state")
    )
    rows = tuple(_field(field) for field in fact.header)
    summary = Line(
        "header",
        text(" · ".join(brief)),
        explain="The fields of the C struct that every object begins with.",
        link="docs/reference/card.md#header",
        verbose=True,
    )
    return Fold(summary, rows, shown=len(rows))


def _short(field: Field) -> str:
    """The value without its leading address."""
    return field.value.partition(" ")[2] if field.value.startswith("0x") else field.value


def _field(field: Field) -> Line:
    spans = (Span(field.name), Span(f"  {field.size_bytes} B  ", "dim"), Span(field.value))
    return Line(f"{field.offset_bytes:+d}", spans, verbose=True)
