"""Subtracting snapshots: only what changed, with its sign, unknowns kept."""

# SPDX-License-Identifier: MIT
import pytest

from inspector.facts.heap import Heap, Held, Snapshot, TypeChange, TypeCount
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire, to_wire

pytestmark = pytest.mark.quick

UNASKED = Unknown("not asked")


def census(**types: tuple[int, int]) -> Heap:
    rows = tuple(TypeCount(name, objects, size, UNASKED) for name, (objects, size) in types.items())
    return Heap(sum(row.objects for row in rows), sum(row.bytes for row in rows), rows, 0)


def test_types_that_came_went_and_grew() -> None:
    earlier = Snapshot(census(same=(1, 10), grew=(1, 100), went=(2, 50)), (), 1000)
    later = Snapshot(census(same=(1, 10), grew=(3, 300), came=(1, 7)), (), 1500)
    difference = later - earlier
    assert (difference.objects, difference.bytes, difference.resident_bytes) == (1, 157, 500)
    assert difference.types == (
        TypeChange("grew", 2, 200),
        TypeChange("went", -2, -50),
        TypeChange("came", 1, 7),
    )


def test_an_unknown_stays_unknown_with_its_reason() -> None:
    before = Held("x", "list", "0x10 list", Unknown("immortal"), 56)
    earlier = Snapshot(census(), (before,), Unknown("no /proc"))
    later = Snapshot(census(), (Held("x", "list", "0x10 list", 1, 64),), 1500)
    difference = later - earlier
    assert difference.resident_bytes == Unknown("no /proc")
    assert (difference.names[0].references, difference.names[0].bytes) == (Unknown("immortal"), 8)


def test_a_snapshot_survives_the_wire() -> None:
    taken = Snapshot(census(a=(1, 2)), (Held("x", "list", "0x10 list", 1, 56),), 5)
    assert from_wire(Snapshot, to_wire(taken)) == taken
    assert from_wire(Snapshot, to_wire(taken)) - taken == taken - taken
