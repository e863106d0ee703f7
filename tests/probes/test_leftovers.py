"""What the process did before changes no answer: freed memory may name an object a million times."""

# SPDX-License-Identifier: MIT
import collections
import contextlib
import ctypes
import gc
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any

import numpy
import pytest
import unnamed
from allocators import DEBUG

from inspector import _native
from inspector.binaries.addresses import place
from inspector.objects.ownership.layouts import layouts
from inspector.objects.probes import refs
from inspector.objects.probes.refs import HITS_MAX, owners

pytestmark = pytest.mark.core

MANY = 1_000_000


class Slots:
    """As large as what an asynchronous generator wraps its values in."""

    __slots__ = ("first", "second")


@pytest.fixture(scope="module")
def libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    library.free.argtypes = [ctypes.c_void_p]
    return library


def exactly_one_list(subject: _native.Subject, held: list[Any]) -> None:
    """The list `held` is the one owner of the subject, and the gap is empty."""
    found = owners(subject, scan=True)
    assert [(one.kind, one.key, one.certain) for one in found if one.certain] == [("item", "[0]", True)]
    assert (found.references, found.named, found.native, found.unstored) == (1, 1, 0, 0)
    assert held


def test_a_freed_list_of_a_million_in_the_heap_takes_no_room(libc: ctypes.CDLL) -> None:
    libc.free(libc.malloc(24 << 20))  # from now on blocks of this size come from the heap (mallopt(3))
    subject = unnamed.boxed()
    many = [subject.get()] * MANY
    above = libc.malloc(1 << 20)  # so that the list becomes a free chunk, not the top
    del many
    held = [subject.get()]
    found = owners(subject, scan=True)
    assert DEBUG or found.scan.stale > 0.9 * MANY, "the plant: freed memory still names the subject"
    exactly_one_list(subject, held)
    libc.free(above)
    exactly_one_list(subject, held)


def test_freed_objects_take_no_room_whether_their_pools_live_on_or_not() -> None:
    subject = unnamed.boxed()
    many = [(number, subject.get()) for number in range(2 * HITS_MAX)]
    survivors = many[::500]
    del many
    found = owners(subject, scan=True)
    assert DEBUG or found.scan.stale > HITS_MAX, "the plant"
    assert (found.references, found.named, found.unstored) == (len(survivors),) * 2 + (0,)
    survivors = survivors[::20]  # some in each arena, none in most pools
    found = owners(subject, scan=True)
    assert DEBUG or found.scan.stale > HITS_MAX, "the plant: whole pools were given back"
    assert (found.references, found.named, found.unstored) == (len(survivors),) * 2 + (0,)


@pytest.mark.parametrize(
    ("make", "count", "holder"),
    [
        (lambda x: [x] * MANY, MANY, "list (1000000 items)"),
        (lambda x: (x,) * MANY, MANY, "tuple (1000000 items)"),
        (lambda x: dict.fromkeys(range(HITS_MAX * 2), x), HITS_MAX * 2, "dict (262144 items)"),
        (lambda x: collections.deque([x] * 40_000), 40_000, "<deque>"),
        (lambda x: numpy.full(MANY, x, dtype=object), MANY, "<ndarray>"),
    ],
    ids=["list", "tuple", "dict", "deque", "array"],
)
def test_one_holder_of_a_million_references_is_one_owner(
    make: Callable[[Any], Any], count: int, holder: str
) -> None:
    subject = unnamed.boxed()
    held = make(subject.get())
    (one,) = owners(subject, scan=True)
    assert (one.kind, one.references, one.certain) == ("item", count, True)
    assert one.holder.startswith(holder)
    assert one.key.endswith(f"and {count - 1:,} more")
    del held
    gc.collect()
    without = owners(subject, scan=True)
    assert (without.references, without.owners) == (0, ())


def test_a_set_that_the_collector_does_not_track_holds_its_items() -> None:
    subject = _native.Subject("".join(map(chr, range(300, 400))))
    held = [frozenset([subject.get(), n]) for n in range(3)]  # untracked from 3.15 on
    found = owners(subject, scan=True)
    assert (found.references, found.named, found.unstored) == (len(held), len(held), 0)


def test_a_class_is_held_by_its_instances_however_many() -> None:
    kind = type("Made", (), {"__slots__": ()})
    instances = [kind() for _ in range(HITS_MAX + 1000)]
    found = owners(_native.Subject(kind), scan=True)
    (row,) = [one for one in found if one.key == "its type"]
    assert (row.kind, row.references, row.certain) == ("type", len(instances), True)
    assert found.named == found.references and found.unstored == 0


def test_more_holders_than_are_looked_at_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refs, "HITS_MAX", 1000)
    subject = unnamed.boxed()
    many = [[subject.get()] for _ in range(1010)]
    found = owners(subject, scan=True)
    assert found.references == len(many)
    assert "more than 1,000 places" in found.unstored.reason
    assert any("more places were counted" in note for note in found.notes)


def test_behind_the_end_of_a_list_nothing_is_held() -> None:
    subject = unnamed.boxed()
    items = [subject.get()] * 1000
    del items[600:]  # the list keeps the room, and what was in it
    (one,) = owners(subject, scan=True)
    assert (one.references, one.certain) == (600, True)
    items[:] = [None] * 600
    found = owners(subject, scan=True)
    assert found.scan.stale >= 400, "the plant: words behind the end"
    assert (found.references, found.owners) == (0, ())


@pytest.mark.parametrize("dead", [tuple, list, dict])
@pytest.mark.parametrize("size", [64, 200, 600])
def test_a_block_where_an_object_died_holds_what_it_holds(dead: type, size: int) -> None:
    """Its new owner did not write all of it: a count of 0 and a type are left where an object began."""
    subject = unnamed.boxed()
    allocate, free = ctypes.pythonapi.PyMem_Malloc, ctypes.pythonapi.PyMem_Free
    allocate.restype, free.argtypes, free.restype = ctypes.c_void_p, [ctypes.c_void_p], None
    block = allocate(ctypes.c_size_t(size))
    words = (ctypes.c_size_t * (size // 8)).from_address(block)
    words[2:5] = [0, id(dead), 1]
    words[7] = subject.address
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(subject.get()))
    found = owners(subject, scan=True)
    free(block)
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(subject.get()))
    assert (found.references, found.named, found.native, found.unstored) == (1, 0, 1, 0)


def test_what_the_interpreter_keeps_for_reuse_names_nothing() -> None:
    """Up to 3.13 the place of an object that was taken out of a list for reuse still has its address."""

    async def numbers() -> AsyncIterator[int]:
        yield 1

    def step(generator: AsyncGenerator[int]) -> None:
        with contextlib.suppress(StopIteration):
            generator.asend(None).send(None)

    for _ in range(200):
        step(numbers())
    gc.collect()
    subjects = [_native.Subject(Slots()) for _ in range(2000)]
    found, _did = _native.find_holders(tuple(subjects), (), layouts(), "", HITS_MAX)
    named = [place(row[8]).symbol for row in found if row[1] == "static"]
    assert not [name for name in named if "Runtime" in str(name)]
