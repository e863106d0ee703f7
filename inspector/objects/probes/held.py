"""What an object refers to: its items by key, else what its type (tp_traverse) and its adapter report.

An array's base, a buffer's exporter, a table's columns are held too, and no `tp_traverse` visits them.
"""

# SPDX-License-Identifier: MIT
import gc
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

from inspector import _native
from inspector._native import Subject
from inspector.adapters.registry import adapter_of
from inspector.facts.amounts import counted
from inspector.facts.graph import Edge, Step
from inspector.facts.unknown import Address
from inspector.objects.ownership.naming import Context, describe
from inspector.objects.ownership.rows import key_text, type_name
from inspector.objects.referents import referents

_Row = tuple[str, Any, str]
"""The key or field, the object, and how it is held."""
MOST: Final = 60
"""Most edges of one object; the rest is counted."""


def held(subject: Subject) -> Step:
    """The objects that this one refers to; runs no user code and keeps no reference to them."""
    x = subject.get()
    kind = type(x)
    if kind is dict:
        first = list(itertools.islice(x.items(), MOST))
        return _step([(f"[{key_text(Subject(key))}]", value, "item") for key, value in first], len(x))
    found = referents((x,))
    if (kind is list or kind is tuple) and len(found) == len(x):  # empty places cannot be read
        return _step([(f"[{at}]", value, "item") for at, value in enumerate(x[:MOST])], len(x))
    if _native.exactly(x, set, frozenset):
        return _step([("", value, "item") for value in found[:MOST]], len(found))
    rows = [*_visited(kind, found), *_known(x, {id(value) for value in found})]
    return _step(rows[:MOST], len(rows))


def _visited(kind: type, found: list[Any]) -> Iterator[_Row]:
    """What only `tp_traverse` reports."""
    for value in found:
        yield "its type" if value is kind else ".__dict__" if type(value) is dict else "", value, "attribute"


def _known(x: Any, seen: set[int]) -> Iterator[_Row]:
    """What the adapter of its library knows and its type does not report."""
    adapter = adapter_of(type(x))
    for relation, value in adapter.holds(x) if adapter is not None else ():
        if id(value) not in seen:
            seen.add(id(value))
            yield relation, value, "kept"


def _step(rows: Sequence[_Row], count: int) -> Step:
    edges = tuple(_edge(key, Subject(value), kind) for key, value, kind in rows)
    nothing = "neither its type nor an adapter tells of a reference; C code may hold some"
    return Step(edges, count - len(edges), counted(count, "reference") if count else nothing)


def _edge(key: str, other: Subject, kind: str) -> Edge:
    text = _native.preview(other, ()) if not gc.is_tracked(other.get()) else None
    return Edge(
        key=key,
        kind="type" if key == "its type" else kind,
        label=text or describe(other, Context({})),
        type_name=type_name(other),
        address=Address(other.address),
        references=1,
        certain=True,
        root=key == "its type" or not gc.is_tracked(other.get()),
    )


def tracked(address: int) -> Subject | None:
    """The live object at an address, if the gc tracks one there."""
    return next((Subject(one) for one in _native.tracked_objects() if id(one) == address), None)


def at(address: int, kind: str) -> Subject | None:
    """The same, if its type still has the name `kind`."""
    found = tracked(address)
    return found if found is not None and type_name(found) == kind else None
