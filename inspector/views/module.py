"""Draws a module: made in C (its PyModuleDef) or in Python."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from pathlib import Path

from inspector.facts.object import Module
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Line, Span, text
from inspector.views.place import method_table, name_table, slot_table
from inspector.views.view import blocks

TYPES_SHOWN = 8


@blocks.register
def module(fact: Module) -> tuple[Block, ...]:
    """Lines: file, phases and state; then slots, methods and the types it defines."""
    return tuple(_blocks(fact))


def _blocks(fact: Module) -> Iterator[Block]:
    in_python = fact.phases == "Python"
    made = "made in Python: no PyModuleDef" if in_python else f"extension, {fact.phases} initialization"
    yield Line(
        "module",
        (Span(fact.name, "python" if in_python else "native"), Span(f"  {made}", "dim")),
        explain="Multi-phase modules (PEP 489) can be loaded more than once; single-phase ones are shared.",
        link="docs/reference/card.md#module",
    )
    yield Line(
        "file", _file(fact.file), explain="Where it was loaded from.", link="docs/reference/card.md#module"
    )
    if fact.doc:
        yield Line("doc", text(f'"{fact.doc}"', "dim"))
    if not isinstance(fact.m_size, Unknown):
        known = fact.m_size != 0 and not isinstance(fact.state_address, Unknown)
        yield Line(
            "state",
            (Span(_state(fact.m_size)), Span(f"  at {fact.state_address:#x}" if known else "", "dim")),
            explain="m_size: bytes of state each module object owns; -1 keeps the state in C globals.",
            link="docs/reference/card.md#module",
        )
    if fact.slots:
        yield slot_table(fact.slots, "" if isinstance(fact.file, Unknown) else fact.file)
    if fact.methods:
        yield method_table("methods", fact.methods)
    if fact.types:
        yield name_table("types", fact.types, TYPES_SHOWN)


def _file(path: str | Unknown) -> tuple[Span, ...]:
    if isinstance(path, Unknown):
        return text(str(path), "dim")
    folder, _, name = path.replace(str(Path.home()), "~", 1).rpartition("/")
    return (Span(name), Span(f"  in {folder}" if folder else "", "dim"))


def _state(m_size: int) -> str:
    if m_size == 0:
        return "none (m_size 0)"
    return "in C globals (m_size -1)" if m_size < 0 else f"{size(m_size)} per module object"
