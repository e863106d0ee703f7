"""The first sentences about a compiled graph: what its nodes made, copied, worked over, and at what cost."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.amounts import counted, size
from inspector.facts.answers import Answer
from inspector.facts.nodes import Breach, GraphCall, NodeRun, Nodes
from inspector.facts.nothing import Nothing
from inspector.verdicts.answers.words import answer

CALLS = "nodes.calls"
_MS = 1e6


def graphs(found: Nodes) -> Iterator[Answer]:
    """One sentence a function, the slowest first; then what was not watched, and what to write."""
    calls = sorted(found.calls, key=lambda one: -one.ns)
    for one in calls[:2]:
        text, none = f"{_name(one)}: {_sums(one)}.", _none(one)
        yield answer("graph-nodes", text, CALLS, costs_bytes=one.copied_bytes, nothing=none)
    for one in calls[:1]:
        if one.unwatched:
            yield answer("graph-not-watched", f"Not watched inside: {one.unwatched}.", CALLS)
    for one in calls:
        yield from (
            answer("graph-contract", said(row, breach), CALLS, certain=breach.certain)
            for row in one.nodes
            for breach in row.breaches
        )
    undeclared = [row for one in calls for row in one.nodes if not row.declared]
    if undeclared:
        row = undeclared[0]
        text = f"Node {row.number}, {row.op}, is {row.made} of {row.of}, and its op does not declare it."
        yield answer("graph-contract", text, CALLS)


def _name(one: GraphCall) -> str:
    times = f" × {one.calls:,}" if one.calls > 1 else ""
    name = f"A{one.name[1:]}" if one.name.startswith("a ") else one.name  # it has none of its own
    return f"{name} in line {one.line}{times}"


def _sums(one: GraphCall) -> str:
    """Bytes of one call, nodes, time of all calls."""
    nodes, spent = counted(len(one.nodes), "node"), f"{one.ns / _MS:.1f} ms"
    if one.unwatched:
        door = sum(door.bytes for door in one.doors)
        at_door = f"{size(door)} copied at the door" if door else "inputs passed without a copy"
        return f"{nodes} as one {one.linker} function, {at_door}, {spent}"
    parts = _amounts(one)
    return f"{', '.join(parts) or 'no bytes made'}; {nodes}, {spent}"


def _amounts(one: GraphCall) -> list[str]:
    amounts = (
        (one.bytes_of("new"), "made"),
        (one.copied_bytes, "copied"),
        (one.bytes_of("in place"), "worked in place"),
        (one.bytes_of("reused"), "in memory used before"),
    )
    return [f"{size(amount)} {word}" for amount, word in amounts if amount]


def _none(one: GraphCall) -> Nothing | None:
    """What was looked at where a call made and copied nothing."""
    return None if _amounts(one) else Nothing(counted(len(one.nodes), "node"), one.unwatched)


def said(row: NodeRun, one: Breach) -> str:
    """What an op did against its word, in a sentence."""
    where = f": `{one.place.rpartition('/')[2]}`" if one.place else ""
    head = f"Node {row.number}, {row.op.partition('{')[0]},"
    if one.did == "writes":
        return f"{head} writes to {one.of}, which its destroy_map does not name."
    if one.did in ("reads past", "reads before"):
        side = "past the end" if one.did == "reads past" else "before the beginning"
        return f"{head} reads {side} of {one.of}: what lies there is another's memory."
    refs = counted(abs(one.refs), "reference")
    gave = "gives back" if one.did == "over-released" else "never gives back"
    return f"{head} {gave} {refs} to {one.of}{' that it does not own' * (one.refs < 0)}{where}."
