"""Draws the calls of compiled graphs: inputs, nodes in order, outputs, and what to write instead."""

# SPDX-License-Identifier: MIT
from inspector.facts.amounts import counted, size
from inspector.facts.nodes import Door, GraphCall, NodeRun, Nodes
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Block, Fold, Line, Picture, Prose, Span, Table, text
from inspector.views.nodes_svg import drawn
from inspector.views.view import blocks

_SHOWN = 14
_CELLS = 4
_MS = 1e6


@blocks.register
def nodes(fact: Nodes) -> tuple[Block, ...]:
    """A table a function; the slowest first."""
    drawn: list[Block] = []
    for one in sorted(fact.calls, key=lambda one: -one.ns):
        drawn += _call(one)
    if fact.left_out:
        drawn.append(Prose(text(f"{counted(fact.left_out, 'further call')} of other functions.", "dim")))
    return tuple(drawn)


def _call(one: GraphCall) -> list[Block]:
    head = Line(
        "graph",
        (Span(one.name, "code"), Span(f"  line {one.line}, linker {one.linker}", "dim")),
        text(f"{counted(one.calls, 'call')}, {one.ns / _MS:.1f} ms", "dim"),
        explain="The nodes of a compiled function in the order in which they ran; bytes of one call.",
        link="docs/reference/traces.md#compiled-graphs",
    )
    rows = [_door(door) for door in one.doors if door.side == "in"]
    most = max((row.ns for row in one.nodes if not isinstance(row.ns, Unknown)), default=0)
    rows += [_node(row, most, bool(one.unwatched)) for row in one.nodes]
    rows += [_door(door) for door in one.doors if door.side != "in"]
    table = Table(("", "", "", "", ""), tuple(rows), (3,))
    advice = dict.fromkeys(door.do for door in one.doors if door.do)
    alt = f"{one.name}: {', '.join(f'{row.number} {row.op} {row.made}' for row in one.nodes)}"
    svg = drawn(one, alt)
    picture = [Picture((), alt, svg)] if svg else []
    return [Fold(head, (table,), _SHOWN), *picture, *(Line("instead", text(do)) for do in advice)]


def _node(row: NodeRun, most: int, only_declared: bool) -> tuple[tuple[Span, ...], ...]:
    named = row.of if not row.of.isdigit() else f"node {row.of}"
    made = (
        "not watched" if isinstance(row.made, Unknown) else f"{row.made} {_joined(row.made, named)}".rstrip()
    )
    size_ = "" if isinstance(row.bytes, Unknown) or not row.bytes else size(row.bytes)
    made = f"declares: {made}" if only_declared and not isinstance(row.made, Unknown) else made
    style = "warn" if row.made == "copied" else "fact"
    taken = f" ← {', '.join(row.takes)}" if row.takes else ""
    return (
        text(str(row.number), "dim"),
        (Span(row.op, "code"), Span(taken[:24], "dim")),
        text(made, style),
        text(size_),
        text(f"{_by(row)}{_time(row, most)}", "dim"),
    )


def _joined(made: str, of: str) -> str:
    return f"of {of}" if made == "view" and of else f"on {of}" if made == "in place" and of else ""


def _by(row: NodeRun) -> str:
    """ "C:88" with the line in the generated file, "Python"; "" where all nodes are one function."""
    line = row.source.rpartition(":")[2]
    return f"{row.by}{line and f':{line}'}" if row.by in ("C", "Python") else ""


def _time(row: NodeRun, most: int) -> str:
    if isinstance(row.ns, Unknown):
        return ""
    bar = "█" * round(_CELLS * row.ns / most) if most else ""
    return f"  {row.ns / _MS:.1f} ms {bar}".rstrip()


def _door(door: Door) -> tuple[tuple[Span, ...], ...]:
    style = "warn" if door.bytes or "copied" in door.how else "fact"
    return (
        text(door.side if door.side != "shared" else "var", "dim"),
        (Span(door.name, "code"), Span(f" {door.what}", "dim")),
        text(door.how, style),
        text(size(door.bytes) if door.bytes else ""),
        (),
    )
