"""What a state costs, and the pages of a gigabyte; on NumPy arrays, a frame, a generator."""

# SPDX-License-Identifier: MIT
import numpy
import pandas
from bench import best, row

import inspector
from inspector import _native
from inspector.adapters.registry import adapter_of

GIGABYTE = 10**9
ROUNDS = 2000


def states() -> None:
    """50 us and what the adapter reads."""
    subjects = {
        "an int": 5,
        "a generator": (i for i in (1, 2)),
        "an ndarray of 96 B": numpy.arange(12.0),
        "an ndarray of 800 kB": numpy.arange(100_000.0),
        "a view": numpy.arange(100_000.0)[:12],
        "a Series": pandas.Series(numpy.arange(1000.0)),
    }
    for name, x in subjects.items():
        all_of_it = best(lambda x=x: inspector.materialization(x), ROUNDS, 1.0)  # type: ignore[misc]
        row(f"state of {name}", all_of_it)
        read = best(lambda x=x: reads(x), ROUNDS, 1.0)  # type: ignore[misc]
        row(f"state of {name}, beside what its adapter reads", all_of_it - read, bar=0.000_050)


def reads(x: object) -> None:
    """Each question that a state puts to the adapter, once."""
    adapter = adapter_of(type(x))
    if adapter is not None:
        adapter.layers(x), adapter.elements(x), adapter.spans(x), adapter.holds(x), adapter.owns(x)


def pages() -> None:
    """2 ms for a gigabyte, where PAGEMAP_SCAN exists; the table of words beside it."""
    for name, x in {"written": numpy.ones(GIGABYTE // 8), "reserved": numpy.zeros(GIGABYTE // 8)}.items():
        start = x.__array_interface__["data"][0]
        asked = [(start, start + x.nbytes, 0)]
        scan = best(lambda asked=asked: _native.residency(asked, 48), ROUNDS, 1.0)  # type: ignore[misc]
        words = best(lambda asked=asked: _native.residency(asked, 48, True), 20, 1.0)  # type: ignore[misc]
        row(f"pages of 1 GB, {name}, PAGEMAP_SCAN", scan, bar=0.002)
        row(f"pages of 1 GB, {name}, PAGEMAP_SCAN", scan, against="pagemap words", theirs=words)


def whole() -> None:
    """All objects over one array, in a process with many objects."""
    base = numpy.arange(1000.0)
    kept = [[i] for i in range(100_000)]
    row(f"aliases among {len(kept):,} lists", best(lambda: inspector.aliases(base), 5, 2.0))


if __name__ == "__main__":
    states()
    pages()
    whole()
