"""The verb `graph`: an object's holders and what it holds, one step; further steps by a node's address."""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from inspector._native import Subject
from inspector.facts.amounts import counted
from inspector.facts.buffer import Holder
from inspector.facts.graph import Edge, Graph, Step
from inspector.facts.refs import Owner
from inspector.facts.unknown import Address, ImmortalType, Unknown
from inspector.objects.layouts.call_references import leave_out_call
from inspector.objects.ownership.rows import type_name
from inspector.objects.probes.buffer import buffer
from inspector.objects.probes.chain import chain
from inspector.objects.probes.held import at, held, tracked
from inspector.objects.probes.refs import owners

ROOTS: Final = (
    "global",
    "local",
    "history",
    "module state",
    "thread-local",
    "context variable",
    "static",
    "heap block",
    "stack",
    "mapping",
    "unknown holder",
)
"""Kinds of owners that are not followed further: the object's path to a root ends there."""
MOST: Final = 60


def graph(x: Any, *, names: Mapping[int, str] | None = None) -> Graph:
    """Return the holders of `x` (by a search of memory), what it holds, and the path to it from a root.

    `names`: id of a dict -> the user's name for it. Runs no user code.
    """
    subject = Subject(x)
    del x
    names = names or {}
    leave_out_call(subject)
    path = tuple(owner.short for owner in chain(subject, names).owners)
    sides = _holders(subject, names), _held(subject, names)
    return Graph(type_name(subject), Address(subject.address), path, *sides)


def step(address: int, type_name: str, up: bool, *, names: Mapping[int, str] | None = None) -> Step:
    """Return the neighbours of the object of that type at an address: its holders (`up`), or what it holds.

    If it was freed, the step has no edges and says so: a graph keeps nothing alive.
    """
    subject = at(address, type_name)
    if subject is None:
        return Step((), 0, f"no {type_name} is at {address:#x} any more")
    return (_holders if up else _held)(subject, names or {})


def _held(subject: Subject, names: Mapping[int, str]) -> Step:
    """What it holds; arrays and buffers by the user's names, with the other views of them."""
    step, fact = held(subject), buffer(subject, names=names)
    said = {holder.address: _words(holder) for holder in fact.holders} if fact is not None else {}
    edges = tuple(
        replace(edge, label=said.get(edge.address) or edge.label) if edge.kind == "kept" else edge
        for edge in step.edges
    )
    return replace(step, edges=edges)


def _words(holder: Holder) -> str:
    """ "ndarray a, also seen by t, u"; "" where no name of the user leads to it."""
    name = "" if holder.name == holder.type_name else f" {holder.name}"
    shown = f", all of it is {holder.shown_by}" if holder.shown_by else ""
    others = ", ".join(view for view in holder.views if view != holder.shown_by)
    views = f", also seen by {others}" if others else ""
    return f"{holder.type_name}{name}{shown}{views}" if name or shown or views else ""


def _holders(subject: Subject, names: Mapping[int, str]) -> Step:
    found = owners(subject, names, scan=True)
    edges = tuple(sorted((_edge(owner) for owner in found.owners[:MOST]), key=_order))
    count = found.references
    said = "never freed" if isinstance(count, ImmortalType) else counted(count, "reference")
    scan = "" if isinstance(found.scan, Unknown) else f"; {found.scan.scanned_bytes / 1e6:,.0f} MB searched"
    return Step(edges, len(found.owners) - len(edges), f"{said}, {found.named} named{scan}")


def _order(edge: Edge) -> tuple[bool, bool, str, str]:
    """Sort key: certain edges first, then edges that can be followed; independent of addresses."""
    return not edge.certain, edge.root, edge.label, edge.key


def _edge(owner: Owner) -> Edge:
    root = owner.kind in ROOTS or not owner.certain
    holder = None if root else tracked(owner.address)
    return Edge(
        key=owner.key,
        kind=owner.kind,
        label=owner.holder,
        type_name="" if holder is None else type_name(holder),
        address=owner.address,
        references=owner.references,
        certain=owner.certain,
        root=root or holder is None,
    )
