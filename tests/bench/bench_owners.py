"""Owners against a pure read of the same memory and against gc.get_referrers, on a fresh and an aged heap.

Seconds of wall: the wait of who asks. One thread computes all of it, so on an idle machine seconds of CPU are
the same; the best of some rounds is what a busy one comes nearest to. How far from an object its holders
lie is chance, so a row is the mean over some subjects.
"""

# SPDX-License-Identifier: MIT
import gc
import random
import statistics

from bench import best, row

from inspector import _native
from inspector.objects.probes.refs import owners

OBJECTS = 1_000_000
SUBJECTS = 5


class Node:
    """An instance with attributes, as programs have them by the million."""

    def __init__(self, number: int) -> None:
        self.items = [number, {"k": (number,)}]


class Thing:
    """The subject."""


def grown(objects: int, aged: bool) -> list[Node]:
    """Some `objects` gc objects, four a node; aged: a random half freed, then made anew, three times."""
    heap = [Node(number) for number in range(objects // 4)]
    chosen = random.Random(3)
    for _ in range(3 if aged else 0):
        chosen.shuffle(heap)
        kept = len(heap) // 2
        freed = len(heap) - kept
        del heap[kept:]  # all of them before the first new one, or each would take the room of the last freed
        heap += [Node(number) for number in range(freed)]
    return heap


def measured(objects: int, aged: bool, rounds: int = 5) -> None:
    """The rows of one heap: means over some subjects of the best of `rounds`; a pure read is the limit."""
    heap = grown(objects, aged)
    sizes = f"{objects:,} gc objects, {'aged' if aged else 'fresh'}"
    places = random.Random(5).sample(range(len(heap)), SUBJECTS)
    columns = zip(*(times_of(heap[place], rounds) for place in places), strict=True)
    read, scan, plain, whole, walk = (statistics.mean(column) for column in columns)
    row("candidate holders", scan, against="a pure read", theirs=read, bar=1.5, sizes=sizes)
    row("candidate holders, plain C", plain, against="a pure read", theirs=read, sizes=sizes)
    row("owners verified and named", whole, against="the candidates", theirs=scan, bar=3.0, sizes=sizes)
    whole_bar, scan_bar = (1.0, 0.2) if aged else (3.0, None)
    row("owners in all", whole, against="gc.get_referrers", theirs=walk, bar=whole_bar, sizes=sizes)
    row("candidate holders", scan, against="gc.get_referrers", theirs=walk, bar=scan_bar, sizes=sizes)


def times_of(node: Node, rounds: int) -> list[float]:
    """Seconds of each question about one subject, held by the list of a node."""
    thing = Thing()
    node.items.append(thing)
    subject = _native.Subject(thing)
    needle = (id(thing), id(thing) + 8)
    asked = (
        _native.read_all,
        lambda: _native.scan_words([needle]),
        lambda: _native.scan_words([needle], portable=True),
        lambda: owners(subject, scan=True),
        lambda: gc.get_referrers(thing),
    )
    # In turn: a busy moment hits all alike.
    times = [[best(one, 1) for one in asked] for _ in range(rounds)]
    node.items.pop()
    return [min(column) for column in zip(*times, strict=True)]


def main() -> None:
    """Both heaps."""
    for aged in (False, True):
        measured(OBJECTS, aged)
        gc.collect()


if __name__ == "__main__":
    main()
