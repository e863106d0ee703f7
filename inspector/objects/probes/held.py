"""The referents of an object: its items by key, other references as its type reports them (tp_traverse)."""

# SPDX-License-Identifier: MIT
import gc
import itertools
from collections.abc import Iterator
from typing import Any, Final

from inspector import _native
from inspector._native import Subject
from inspector.facts.amounts import counted
from inspector.facts.graph import Edge, Step
from inspector.facts.unknown import Address
from inspector.objects.ownership.naming import Context, describe
from inspector.objects.ownership.rows import key_text, type_name
from inspector.objects.referents import referents

MOST: Final = 60
"""Most edges of one object; the rest is counted."""


def held(subject: Subject) -> Step:
    """The objects that this one refers to; runs no user code and keeps no reference to them."""
    x = subject.get()
    kind = type(x)
    if kind is dict:
        first = list(itertools.islice(x.items(), MOST))
        return _step(((f"[{key_text(Subject(key))}]", value) for key, value in first), len(x), "item")
    found = referents((x,))
    if (kind is list or kind is tuple) and len(found) == len(x):  # empty places cannot be read
        return _step(((f"[{at}]", value) for at, value in enumerate(x[:MOST])), len(x), "item")
    if kind in (set, frozenset):
        return _step((("", value) for value in found), len(found), "item")
    return _step(((_said(kind, value), value) for value in found), len(found), "attribute")


def _said(kind: type, value: Any) -> str:
    """The text for a reference that only `tp_traverse` reports."""
    return "its type" if value is kind else ".__dict__" if type(value) is dict else ""


def _step(pairs: Iterator[tuple[str, Any]], count: int, kind: str) -> Step:
    edges = tuple(_edge(key, Subject(value), kind) for key, value in itertools.islice(pairs, MOST))
    says = f"{counted(count, 'reference')} that its type tells the garbage collector of"
    return Step(edges, count - len(edges), says if count else "it refers to nothing that its type tells of")


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
    return next((Subject(one) for one in gc.get_objects() if id(one) == address), None)


def at(address: int, kind: str) -> Subject | None:
    """The same, if its type still has the name `kind`."""
    found = tracked(address)
    return found if found is not None and type_name(found) == kind else None
