"""Draws a type object: its instances, flags, slots and C tables."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.object import Type
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Line, Span, text
from inspector.views.place import few, library_name, method_table, name_table, slot_table
from inspector.views.view import blocks

FLAG_PREFIX = "Py_TPFLAGS_"
MEMBERS_SHOWN = 4
GETSET_SHOWN = 4


@blocks.register
def type_(fact: Type) -> tuple[Block, ...]:
    """Lines: bases, instances, flags; then slots, methods, members and getset as tables."""
    return (_class(fact), _instances(fact), _flags(fact), *_tables(fact))


def _class(fact: Type) -> Line:
    where = f"class statement in {fact.defined_in}"
    if isinstance(fact.defined_in, Unknown):
        where = str(fact.defined_in)
    elif "/" in fact.defined_in:
        where = f"in {library_name(fact.defined_in)}"
    metatype = "" if fact.metatype == "type" else f", metaclass {fact.metatype}"
    return Line(
        "class",
        (
            Span(fact.name, "name"),
            Span(f"  of {few(fact.bases, ', ') or 'no base'}{metatype}, {where}", "dim"),
        ),
        explain="The type's own name, its direct bases, and what defines it.",
        link="docs/reference/card.md#class",
    )


def _instances(fact: Type) -> Line:
    items = f" + {fact.itemsize_bytes} B per item" if fact.itemsize_bytes else ""
    holds = [
        "a dict" if fact.instances_hold_dict else "no dict",
        "weak references" if fact.instances_weakrefable else "no weak references",
    ]
    return Line(
        "instance",
        (Span(f"{size(fact.basicsize_bytes)}{items}"), Span(f"  {' · '.join(holds)}", "dim")),
        explain="tp_basicsize and tp_itemsize; whether an instance has a dict and can be weakly referenced.",
        link="docs/reference/card.md#class",
    )


def _flags(fact: Type) -> Line:
    names = [name.removeprefix("_").removeprefix(FLAG_PREFIX) for name in fact.flags]
    return Line(
        "flags",
        (Span(FLAG_PREFIX, "dim"), Span(" ".join(names) or "0")),
        explain="Bits of tp_flags that are set, each a Py_TPFLAGS_ name.",
        link="docs/reference/card.md#flags",
    )


def _tables(fact: Type) -> Iterator[Block]:
    yield slot_table(fact.slots, "" if isinstance(fact.defined_in, Unknown) else fact.defined_in)
    of = "" if fact.tables_of == fact.name else fact.tables_of
    if fact.methods:
        yield method_table("methods", fact.methods, of)
    if fact.members:
        yield name_table("members", fact.members, MEMBERS_SHOWN)
    if fact.getset:
        yield method_table("getset", fact.getset, of, GETSET_SHOWN)
    if not fact.methods and not fact.getset:
        yield Line(
            "methods", text("none in C", "dim"), explain="Its methods are Python functions in its dict."
        )
