"""What changed about watched names between two snapshots of a namespace."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Sequence

from inspector.facts.namespace import Namespace, Row
from inspector.facts.unknown import Unknown
from inspector.facts.watch import Watch, Watched

NOT_BOUND = Unknown("not bound")


def watched(names: Sequence[str], before: Namespace | None, now: Namespace) -> Watch:
    """The watched names in the given order; without `before` there are no changes."""
    old = None if before is None else {row.name: row for row in before.rows}
    rows = {row.name: row for row in now.rows}
    return Watch(tuple(_one(name, old, rows.get(name)) for name in names))


def _one(name: str, old: dict[str, Row] | None, row: Row | None) -> Watched:
    was = None if old is None else old.get(name)
    if row is None:
        return Watched(name, NOT_BOUND, (("object", was.type_name),) if was else ())
    if old is not None and was is None:
        return Watched(name, row, (("object", "not bound"),))
    return Watched(name, row, tuple(_changes(was, row)) if was else ())


def _changes(was: Row, row: Row) -> Iterator[tuple[str, str]]:
    if was.address != row.address:
        yield "object", "another object"
    for field, before, now in (
        ("state", was.state, row.state),
        ("here", _percent(was), _percent(row)),
        ("type", was.type_name, row.type_name),
        ("bytes", was.bytes, row.bytes),
        ("refs", was.references, row.references),
    ):
        if before != now:
            yield field, str(before)


def _percent(row: Row) -> str:
    share = row.resident_fraction
    return "" if isinstance(share, Unknown) else f"{100 * share:.0f} %"
