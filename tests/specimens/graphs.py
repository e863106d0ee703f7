"""Random graphs of live objects, and a brute-force walk over them to compare with."""

# SPDX-License-Identifier: MIT
import gc
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from soak import rounds

EXAMPLES = rounds(100, 1000)
"""Random graphs a test tries; `make soak` asks for the long form."""
NODES_MAX = 14
ATTRIBUTES = tuple(f"a{n}" for n in range(3 * NODES_MAX))
"""Held here, so that no node is the only holder of its attributes' names."""


class Node:
    """An instance whose attributes are its references."""


class Slotted:
    """An instance with slots: two references at the most."""

    __slots__ = ("first", "second")


@dataclass(frozen=True)
class Plan:
    """What to build: kinds of nodes, who refers to whom, who is held from outside, who is asked about."""

    kinds: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    roots: frozenset[int]
    subject: int


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans of up to NODES_MAX nodes; about half the nodes are held from outside."""
    kinds = st.sampled_from(["list", "dict", "tuple", "Node", "Slotted", "cell", "set"])
    size = draw(st.integers(1, NODES_MAX))
    numbers = st.integers(0, size - 1)
    return Plan(
        tuple(draw(st.lists(kinds, min_size=size, max_size=size))),
        tuple(draw(st.lists(st.tuples(numbers, numbers), max_size=3 * size))),
        draw(st.frozensets(numbers, max_size=max(1, size // 2))),
        draw(numbers),
    )


def build(plan: Plan) -> tuple[list[Any], Any]:
    """(the nodes held from outside, the subject). Nothing else refers to a node; garbage is collected."""
    made: list[Any] = []
    for number, kind in enumerate(plan.kinds):
        targets = [made[b] for a, b in plan.edges if a == number and b < number]
        made.append(_node(kind, number, targets))
    for a, b in plan.edges:
        if b >= a:
            _link(made[a], made[b], b)
    answer = [made[number] for number in sorted(plan.roots)], made[plan.subject]
    del made, targets
    gc.collect()
    return answer


def _node(kind: str, number: int, targets: list[Any]) -> Any:
    leaf = f"leaf {number} {id(targets)}"
    if kind == "tuple":
        return (leaf, number + 0.5, *targets)
    fresh = {"list": list, "dict": dict, "Node": Node, "Slotted": Slotted, "cell": types.CellType, "set": set}
    node = fresh[kind]()
    for position, target in enumerate(targets):
        _link(node, target, position)
    if kind == "list":
        node.append(leaf)
    if kind == "dict":
        node[leaf] = number + 0.5
    return node


def _link(node: Any, target: Any, position: int) -> None:
    if type(node) is list:
        node.append(target)
    elif type(node) is dict:
        node[f"key {position} {id(node)}"] = target
    elif type(node) is Node:
        setattr(node, ATTRIBUTES[position], target)
    elif type(node) is Slotted:
        setattr(node, "first" if position % 2 else "second", target)
    elif type(node) is types.CellType:
        node.cell_contents = target
    elif type(node) is set and type(target) in (Node, Slotted):
        node.add(target)


def references(x: Any) -> Iterator[Any]:
    """What an object of these graphs refers to; classes and modules left out."""
    yield from (r for r in gc.get_referents(x) if not isinstance(r, type | types.ModuleType))
    if type(x) is dict and all(type(key) is str for key in x):
        yield from (key for key in x if key not in ATTRIBUTES)  # get_referents leaves such keys out


def reachable(start: list[Any], cut: Any) -> dict[int, Any]:
    """Everything the start objects reach without passing `cut`, by id."""
    seen: dict[int, Any] = {}
    waiting = [x for x in start if x is not cut]
    while waiting:
        x = waiting.pop()
        if id(x) not in seen and x is not cut:
            seen[id(x)] = x
            waiting += references(x)
    return seen
