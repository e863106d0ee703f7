"""The census against counts made by hand, and snapshots that see only what changed."""

# SPDX-License-Identifier: MIT
import array
import collections
import gc
import io
import json
import subprocess
import sys
import types
from collections.abc import Iterator
from typing import Any

import programs
import pytest
from awaiting import after_waiting
from refused import refused

from inspector import _native
from inspector._native import Subject
from inspector.facts.heap import Heap, TypeCount
from inspector.objects.probes.heap import heap, snapshot

pytestmark = pytest.mark.core


def row(fact: Heap, name: str) -> TypeCount:
    found = [row for row in fact.types if row.type_name.endswith(f".{name}") or row.type_name == name]
    assert len(found) == 1, [row.type_name for row in found]
    return found[0]


def counted(name: str) -> tuple[int, int]:
    """Objects and bytes of a type now; (0, 0) where none lives."""
    return next(((row.objects, row.bytes) for row in heap().types if row.type_name == name), (0, 0))


@pytest.mark.quick
def test_planted_objects_are_counted_exactly() -> None:
    class Slotted:
        __slots__ = ("a", "b")

    kept = [Slotted() for _ in range(1234)]
    found = row(heap(), "Slotted")
    assert (found.objects, found.bytes) == (1234, sum(map(sys.getsizeof, kept)))


def test_leaves_that_no_list_holds_are_counted_once() -> None:
    objects, size = counted("complex")
    kept = [complex(n) for n in range(500)]
    again = (kept[0], kept[1], {"k": kept[2]})
    assert counted("complex") == (objects + 500, size + sum(map(sys.getsizeof, kept)))
    assert len(again) == 3


def test_untracked_containers_are_followed() -> None:
    objects, _ = counted("complex")
    kept = [((complex(n), 1), "text") for n in range(100)]
    while gc.is_tracked(kept[0]):  # from the inside out, one layer a collection
        gc.collect()
    sets = [frozenset([complex(0, n + 1)]) for n in range(100)]  # untracked from 3.15 on
    assert counted("complex")[0] == objects + len(kept) + len(sets)


def test_frozen_and_uncollectable_objects_are_counted() -> None:
    class Frozen:
        pass

    kept = [Frozen() for _ in range(7)]
    kept[0].me = kept[0]  # type: ignore[attr-defined]
    gc.freeze()
    assert row(heap(), "Frozen").objects == 7
    del kept[0].me  # type: ignore[attr-defined]


def test_a_hundred_thousand_deep_nesting_needs_no_stack() -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    flat: tuple[object, ...] = ()
    for _ in range(100_000):
        flat = (flat,)
    gc.collect()
    found = heap()
    assert row(found, "list").objects > 100_000
    assert row(found, "tuple").objects > 100_000
    while nested:
        nested = nested.pop()  # type: ignore[assignment]


def test_half_built_objects_are_counted_as_they_stand() -> None:
    class Bare:
        def __init__(self) -> None:
            raise AssertionError("not run")

    kept = [Bare.__new__(Bare), types.FunctionType.__new__]
    ahead = iter(range(10))
    seen = []

    def fill() -> Iterator[int]:
        for n in ahead:
            seen.append(heap().objects)  # tuple() is half built while this runs
            yield n

    assert tuple(fill()) == tuple(range(10)) and len(seen) == 10
    assert row(heap(), "Bare").objects == 1 and len(kept) == 2


@pytest.mark.quick
def test_the_walk_disturbs_nothing(fingerprint: Any) -> None:
    subjects = [[1.5], {"k": []}, (1.5, []), object(), {1.5}]
    before = [fingerprint(x) for x in subjects]
    gc.disable()
    heap(retained=3)
    assert not gc.isenabled()
    gc.enable()
    heap()
    assert gc.isenabled()
    assert [fingerprint(x) for x in subjects] == before


def test_bytes_are_those_of_getsizeof() -> None:
    """For types whose own bytes CPython tells in full: no instance values, no `__sizeof__` in Python."""
    gc.collect()
    kept: list[Any] = [bytearray(1000), "é" * 99, b"x" * 50, 2**500, {1, 2, 3}, array.array("d", [1.0] * 9)]
    kept += [collections.deque(range(100)), io.BytesIO(b"x" * 500), {n: n for n in range(99)}, set(range(99))]
    rows = {name: own for name, _, _, _, own in _native.names({f"x{n}": x for n, x in enumerate(kept)})}
    assert rows == {f"x{n}": sys.getsizeof(x) for n, x in enumerate(kept)}


@pytest.mark.parametrize("flags", [["-X", "dev"], []], ids=["debug allocator", "release"])
def test_a_fresh_interpreter_agrees_with_its_own_count(flags: list[str]) -> None:
    code = """
import gc, sys
from inspector import _native
class Slotted:
    __slots__ = ("a",)
kept = [Slotted() for _ in range(1000)]
rows = {name: (objects, own) for name, objects, own in _native.census(())[0]}
assert rows["__main__.Slotted"] == (1000, sum(map(sys.getsizeof, kept))), rows["__main__.Slotted"]
functions = [x for x in gc.get_objects() if type(x).__name__ == "function"]
assert rows["function"][0] == len(functions), (rows["function"], len(functions))
"""
    subprocess.run([sys.executable, "-P", *flags, "-c", code], check=True, timeout=60)


def test_a_lie_of_sizeof_is_not_asked_for() -> None:
    class Liar(list):  # type: ignore[type-arg]
        asked = 0

        def __sizeof__(self) -> int:
            Liar.asked += 1
            return 10**12

    kept = Liar(range(100))
    found = row(heap(), "Liar")
    assert found.bytes < 10_000 and Liar.asked == 0 and len(kept) == 100


def test_two_snapshots_with_nothing_between_differ_in_nothing() -> None:
    snapshot({})
    gc.collect()  # garbage of other tests, collected in between, would be a change indeed
    earlier = snapshot({})
    later = snapshot({})
    difference = later - earlier
    assert difference.types == () and difference.names == ()


@pytest.mark.quick
def test_a_snapshot_difference_names_what_changed() -> None:
    kept: dict[str, object] = {"stays": [1], "goes": [2], "moves": [3]}
    earlier = snapshot(kept)
    del kept["goes"]
    kept["moves"] = (kept["moves"],)
    kept["comes"] = kept["stays"]
    changes = {change.name: change for change in (snapshot(kept) - earlier).names}
    expected = {"stays": "kept", "goes": "gone", "moves": "rebound", "comes": "born"}
    assert {name: change.change for name, change in changes.items()} == expected
    assert changes["stays"].references == 1


def test_references_are_those_of_the_namespace() -> None:
    value = object()
    kept = {"x": value}
    (held,) = snapshot(kept).names
    assert held.references == 2  # this frame and the namespace
    (held,) = snapshot({"x": Subject(value)}).names
    assert held.references == 2


def test_a_namespace_that_runs_code_is_refused() -> None:
    class Lazy(dict):  # type: ignore[type-arg]
        def items(self) -> object:
            raise AssertionError("asked")

    with refused("not-a-namespace"):
        snapshot(Lazy(x=1))


COUNTS = """
import _asyncio, json, types
import inspector
from inspector import _native
class Module(types.ModuleType):
    pass
kept = asyncio.Future(loop=asyncio.new_event_loop()).__await__()
name = "_asyncio.FutureIter"
counted = [row.objects for row in inspector.heap().types if row.type_name == name]
held = [row for row in _native.retained(_native.Subject(_asyncio))[0] if row[0] == name]
_asyncio.__class__ = Module
again = [row.objects for row in inspector.heap().types if row.type_name == name]
print(json.dumps([counted, held, again]))
"""


def test_what_a_free_list_keeps_is_not_counted() -> None:
    """On CPython 3.12 the module _asyncio names the dead iterators of its free list to the collector."""
    assert json.loads(after_waiting(COUNTS)) == [[1], [], [1]]


def test_the_first_snapshot_of_a_process_is_not_told_as_born_by_the_second() -> None:
    """What the first one imports for itself is there when it counts: that was 13,516 objects.

    Nor as gone by the next collection: 127 objects were, the classes that `slots=True` had made again.
    """
    code = "import gc, inspector\na = inspector.snapshot()\ngc.collect()\n"
    assert abs(int(programs.python(code + "print((inspector.snapshot() - a).objects)"))) < 20
