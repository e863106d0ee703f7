"""Draws an object of R, and what R's names keep."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.amounts import counted, size
from inspector.facts.r_object import LazyState, RMemory, RNamed, RObject
from inspector.facts.unknown import Unknown
from inspector.views.amounts import known
from inspector.views.grammar import Block, Line, Span, Table, text
from inspector.views.view import blocks

SHOWN = 16
HELD = 6


@blocks.register
def of_r_object(fact: RObject) -> tuple[Block, ...]:
    """The rows of a card."""
    return tuple(_rows(fact))


def title(fact: RObject) -> str:
    """ "integer(1,000,000)", "closure", "factor, integer(3)"."""
    of = f"{fact.classes[0]}, " if fact.classes else ""
    return of + (fact.type if isinstance(fact.length, Unknown) else f"{fact.type}({fact.length:,})")


def _rows(fact: RObject) -> Iterator[Line]:
    if fact.values:
        yield Line("values", text(" ".join(fact.values)))
    deep = fact.deep_bytes
    whole = (
        f", {size(deep)} with all that it holds"
        if not isinstance(deep, Unknown) and deep > fact.bytes
        else ""
    )
    left = text(f"  {deep.reason}: not counted", "dim") if isinstance(deep, Unknown) else ()
    yield Line("bytes", (*text(f"{size(fact.bytes)}{whole}"), *_class(fact.lazy), *left))
    if not isinstance(fact.lazy, Unknown):
        lazy = fact.lazy
        yield Line("class", text(f"{lazy.class_name} of {lazy.package}"))
        yield Line("data1", text(lazy.first_slot, "dim"), verbose=True)
        yield Line("data2", text(lazy.second_slot, "dim"), verbose=True)
    said = "not mutable" if fact.not_mutable else f"{fact.references:,}"
    yield Line("REF", text(said), link="docs/how-to/use_it_from_r.md")
    if fact.attributes:
        yield Line("attributes", text(", ".join(fact.attributes)))
    more = f" and {len(fact.held_by) - HELD} more" if len(fact.held_by) > HELD else ""
    names = ", ".join(fact.held_by[:HELD]) + more
    nobody = f"no name in {counted(fact.looked_in, 'environment')}"
    yield Line("held by", text(names) if names else text(nobody, "dim"))
    if fact.shared_with:
        yield Line("Python", text(", ".join(fact.shared_with)))
    yield Line("address", text(f"{fact.address:#x}", "dim"), verbose=True)


def _class(lazy: LazyState | Unknown) -> tuple[Span, ...]:
    """The table of methods is no part of the vector; other tools count it."""
    if isinstance(lazy, Unknown):
        return ()
    return text(f"  and {size(lazy.class_bytes)} of the class, shared by all its vectors", "dim")


@blocks.register
def of_r_memory(fact: RMemory) -> tuple[Block, ...]:
    """One row a name."""
    rows = tuple(_row(one) for one in fact.names[:SHOWN])
    left = fact.names_left_out + max(len(fact.names) - SHOWN, 0)
    caption = f"… {counted(left, 'more name')}" if left else ""
    whole = (
        *text(f"{size(fact.total_bytes)} are held by names, what two share counted once; the process has "),
    )
    resident = Line("memory", (*whole, *known(fact.resident_bytes, "size")))
    return resident, Table(("name", "", "bytes", "not made"), rows, (2, 3), caption)


def _row(one: RNamed) -> tuple[tuple[Span, ...], ...]:
    lazy = one.object.lazy
    waits = "" if isinstance(lazy, Unknown) or lazy.made != "none" else size(one.object.elements_bytes)
    what = title(one.object) if isinstance(lazy, Unknown) else f"{title(one.object)}, {lazy.stands_for}"
    deep = one.object.deep_bytes
    amount = one.object.bytes if isinstance(deep, Unknown) else deep
    return text(one.name, "code"), text(what), text(size(amount)), text(waits, "dim")
