"""The heap as a whole: census, retained sizes and root paths, on a fresh and an aged heap, against the peers.

Heaps of 1e6 gc objects; `HEAP_OBJECTS=10000000` asks for another size. An aged heap has had a random half of
its objects freed and made anew, three times: the order of the gc's list is then not the order of addresses.
"""

# SPDX-License-Identifier: MIT
import gc
import multiprocessing
import os
import random
import sys
from collections.abc import Callable
from typing import Any

from bench import best, optional, row, seconds

from inspector import _native
from inspector._native import Subject
from inspector.objects.probes.chain import chain

OBJECTS = int(os.environ.get("HEAP_OBJECTS", "1000000"))
SIZE = f"{OBJECTS:.0e} gc objects".replace("e+0", "e")
CENSUS_NS_MAX = 250 if OBJECTS <= 2_000_000 else 330
CENSUS_BYTES_MAX = 16e6
RETAINED_BYTES_MAX = 100
TWO_HOPS_S_MAX = 0.3
CHAIN_S_MAX = 1.0


class Node:
    """An instance with two attributes."""

    def __init__(self, n: int) -> None:
        self.number = n
        self.text = str(n)


def make(count: int, into: list[Any]) -> None:
    """`count` gc objects more in the list, of four kinds, with as many leaves; each can be freed alone."""
    gc.disable()
    for n in range(count // 4):
        into += (Node(n + 1000), {"n": n + 100_000, "all": into}, [n + 1_000_000, into], (into, str(n)))
    gc.enable()


def age(made: list[Any]) -> None:
    """Free a random half and make it anew, three times."""
    choice = random.Random(4)
    for _ in range(3):
        choice.shuffle(made)
        del made[len(made) // 2 :]
        make(OBJECTS - len(made), made)


def census(state: str) -> None:
    """Nanoseconds for each gc object, and memory taken."""
    answers = [_native.census(()) for _ in range(5)]
    tracked = answers[-1][1]
    ours = min(answer[2] for answer in answers) / tracked
    row(f"census, {state} heap", ours, bar=CENSUS_NS_MAX, unit="ns/object", sizes=SIZE)
    row(f"census, {state} heap: memory", answers[-1][3], bar=CENSUS_BYTES_MAX, unit="B", sizes=SIZE)
    what = f"census, {state} heap"
    if objgraph := optional("objgraph"):
        compared(what, ours, "objgraph", objgraph.typestats)
    guppy = optional("guppy") if state == "fresh" and OBJECTS <= 1_000_000 else None
    if guppy:
        compared(what, ours, "guppy", guppy.hpy().heap)


def compared(what: str, ours: float, name: str, theirs: Callable[[], object]) -> None:
    """One row of nanoseconds an object against a peer's call."""
    their_ns = best(theirs, 2) * 1e9 / OBJECTS
    row(what, ours, against=name, theirs=their_ns, bar=1.0, unit="ns/object", sizes=SIZE)


def retained(made: list[Any]) -> None:
    """Time and memory for what one list of everything keeps alive."""
    subject = Subject(made)
    _, looked_at, extra, *_ = _native.retained(subject)
    spent = best(lambda: _native.retained(subject), 3) * 1e9 / looked_at
    row("retained size of it all", spent, unit="ns/object", sizes=f"{looked_at:,} objects")
    row("retained size: memory an object", extra / looked_at, bar=RETAINED_BYTES_MAX, unit="B", sizes=SIZE)


def paths(made: list[Any], state: str) -> None:
    """A root path of two steps, and one of twelve containers behind the whole heap."""
    near = Subject(made[len(made) // 2])
    spent = best(lambda: chain(near, {}), 3)
    row(f"root path of two steps, {state} heap", spent, bar=TWO_HOPS_S_MAX, sizes=SIZE)
    far: Any = [object()]
    subject = Subject(far[0])
    for _ in range(11):
        far = [far]
    made.append([far])
    del far
    spent, what = best(lambda: chain(subject, {}), 3), f"root path through 12 containers, {state} heap"
    row(what, spent, bar=CHAIN_S_MAX, sizes=SIZE)
    if guppy := optional("guppy"):
        heapy = guppy.hpy()
        theirs = seconds(lambda: str(heapy.iso(subject.get()).shpaths))
        row(what, spent, against="guppy", theirs=theirs, bar=1.0, sizes=SIZE)
    made.pop()


def fresh() -> None:
    """The rows of a heap as it was made."""
    make(OBJECTS, HEAP)
    census("fresh")
    retained(HEAP)
    paths(HEAP, "fresh")


def aged() -> None:
    """The rows of a heap that lived for a while."""
    make(OBJECTS, HEAP)
    age(HEAP)
    census("aged")
    paths(HEAP, "aged")


def main() -> None:
    """All rows, of each heap in a process of its own: what a peer took before stays in the address space."""
    for rows in (fresh, aged):
        child = multiprocessing.get_context("fork").Process(target=rows)
        child.start()
        child.join()
        if child.exitcode:
            sys.exit(child.exitcode)


HEAP: list[Any] = []
"""The root of all objects made here: a global, as in a user's program."""

if __name__ == "__main__":
    main()
