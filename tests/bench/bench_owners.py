"""Owners against a pure read of the same memory and against gc.get_referrers, on a fresh and an aged heap.

Seconds of CPU: each of them computes on one core from start to end and waits for nothing.
"""

from __future__ import annotations

import gc
import random
import time

from bench import best, row

from inspector import _native
from inspector.probes.refs import owners

OBJECTS = 1_000_000


class Node:
    """An instance with attributes, as programs have them by the million."""

    def __init__(self, number: int) -> None:
        self.items = [number, {"k": (number,)}]


class Thing:
    """The subject."""


def grown(objects: int, aged: bool) -> list[Node]:
    """Some `objects` gc objects, four a node; aged: half of them freed and made anew, three times."""
    heap = [Node(number) for number in range(objects // 4)]
    chosen = random.Random(3)
    for _ in range(3 if aged else 0):
        for place in chosen.sample(range(len(heap)), len(heap) // 2):
            heap[place] = Node(place)
    return heap


def measured(objects: int, aged: bool, rounds: int = 9) -> None:
    """The rows of one heap, measured `rounds` times: a pure read of its memory is the limit."""
    heap = grown(objects, aged)
    thing = Thing()
    heap[len(heap) // 2].items.append(thing)
    subject = _native.Subject(thing)
    needle = (id(thing), id(thing) + 8)
    sizes = f"{objects:,} gc objects, {'aged' if aged else 'fresh'}"
    asked = (
        _native.read_all,
        lambda: _native.scan_words([needle]),
        lambda: _native.scan_words([needle], portable=True),
        lambda: owners(subject, scan=True),
        lambda: gc.get_referrers(thing),
    )
    # In turn: a busy moment hits all alike.
    times = [[best(one, 1, clock=time.process_time) for one in asked] for _ in range(rounds)]
    read, scan, plain, whole, walk = (min(column) for column in zip(*times, strict=True))
    row("candidate holders", scan, against="a pure read", theirs=read, bar=1.5, sizes=sizes)
    row("candidate holders, plain C", plain, against="a pure read", theirs=read, sizes=sizes)
    row("owners verified and named", whole, against="the candidates", theirs=scan, bar=3.0, sizes=sizes)
    whole_bar, scan_bar = (1.0, 0.2) if aged else (3.0, None)
    row("owners in all", whole, against="gc.get_referrers", theirs=walk, bar=whole_bar, sizes=sizes)
    row("candidate holders", scan, against="gc.get_referrers", theirs=walk, bar=scan_bar, sizes=sizes)


def main() -> None:
    """Both heaps."""
    for aged in (False, True):
        measured(OBJECTS, aged)
        gc.collect()


if __name__ == "__main__":
    main()
