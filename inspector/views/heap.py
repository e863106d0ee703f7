"""Draws the heap as a table by type, and the difference of two snapshots."""

# SPDX-License-Identifier: MIT
from inspector.facts.heap import Difference, Heap, NameChange, Snapshot, TypeChange, TypeCount
from inspector.facts.unknown import Unknown
from inspector.views.account import held
from inspector.views.amounts import known, signed, signed_size, size
from inspector.views.answers import sentence
from inspector.views.grammar import Block, Fold, Line, Prose, Span, Table, text
from inspector.views.view import blocks

_SHOWN = 20
_BAR_COLUMNS = 12
_EIGHTHS = " ▏▎▍▌▋▊▉"
_SIGNS = {"born": "+", "gone": "-", "rebound": "±", "kept": " "}


@blocks.register
def _heap(fact: Heap) -> tuple[Block, ...]:
    said = tuple(Prose(sentence(row)) for row in fact.answers)
    room = _SHOWN - len(fact.largest) - 3 * bool(fact.largest)
    return (*said, _census(fact, room), *held(fact.largest))


@blocks.register
def _snapshot(fact: Snapshot) -> tuple[Block, ...]:
    names = Line("names", text(f"{len(fact.names):,}"))
    resident = Line("resident", known(fact.resident_bytes, "size"), explain="The process's memory (VmRSS).")
    return (_census(fact.heap, _SHOWN), names, resident)


@blocks.register
def _difference(fact: Difference) -> tuple[Block, ...]:
    total = text(f"{signed(fact.objects)} objects · {signed_size(fact.bytes)}")
    cost = Span(f"  two walks of {fact.walk_ns / 2e6:,.0f} ms", "dim")
    resident = known(fact.resident_bytes, "signed_size")
    right = (*resident, Span(" resident", "dim")) if not isinstance(fact.resident_bytes, Unknown) else ()
    if not fact.types and not fact.names:
        return (Line("heap", (*text("unchanged"), cost), right),)
    made: list[Block] = [Fold(Line("heap", (*total, cost), right), (_changes(fact.types),), _SHOWN)]
    if fact.names:
        made.append(Fold(Line("names", text(f"{len(fact.names):,} changed")), (_names(fact.names),), _SHOWN))
    return tuple(made)


def _census(fact: Heap, shown: int) -> Fold:
    summary = Line(
        "heap",
        text(f"{fact.objects:,} objects · {size(fact.bytes)}"),
        (Span(f"{len(fact.types):,} types, counted in {fact.walk_ns / 1e6:,.1f} ms", "dim"),),
        "All gc-tracked objects and the objects they refer to; only the objects' own bytes.",
        "docs/reference/heap.md#census",
    )
    has_retained = any(not isinstance(row.retained_bytes, Unknown) for row in fact.types)
    columns = ("type", "objects", "bytes", "", *(("retained",) if has_retained else ()))
    largest = max((row.bytes for row in fact.types), default=0)
    rows = tuple(_type_row(row, largest, has_retained) for row in fact.types)
    return Fold(summary, (Table(columns, rows, (1, 2, 4)),), shown)


def _type_row(row: TypeCount, largest: int, has_retained: bool) -> tuple[tuple[Span, ...], ...]:
    cells = (text(row.type_name), text(f"{row.objects:,}"), text(size(row.bytes)))
    bar = text(_bar(row.bytes, largest), "dim")
    kept = () if isinstance(row.retained_bytes, Unknown) else known(row.retained_bytes, "size")
    return (*cells, bar, *((kept,) if has_retained else ()))


def _bar(amount: int, largest: int) -> str:
    eighths = round(amount * _BAR_COLUMNS * 8 / largest) if largest else 0
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _changes(changes: tuple[TypeChange, ...]) -> Table:
    rows = tuple(
        (text(change.type_name), text(signed(change.objects)), text(signed_size(change.bytes)))
        for change in changes
    )
    return Table(("type", "objects", "bytes"), rows, (1, 2))


def _names(changes: tuple[NameChange, ...]) -> Table:
    return Table(("", "name", "", "type", "refs", "bytes"), tuple(map(_name_row, changes)), (4, 5))


def _name_row(change: NameChange) -> tuple[tuple[Span, ...], ...]:
    absolute = change.change in ("born", "gone")
    return (
        text(_SIGNS[change.change], "dim"),
        text(change.name),
        text(change.change, "dim"),
        text(change.type_name),
        known(change.references, "count" if absolute else "signed"),
        known(change.bytes, "size" if absolute else "signed_size"),
    )
