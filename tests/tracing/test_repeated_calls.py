"""A loop, however long: its calls are added up, so that rows and headline are of all of them.

What a stream keeps one by one is the second count.
"""

# SPDX-License-Identifier: MIT
import math
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import soak
from threads import at_once

import inspector
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core]
MANY = 30_000
"""Calls of a loop: four times what is looked at together; a ring begins to add up at 65,536 records."""
LONG = 3_000_000 if soak.SOAK else 400_000


def sizes() -> None:
    whole = np.arange(64.0)
    for number in range(MANY):
        whole[: number % 7 + 1].copy()
        np.asarray([number])


def nested() -> None:
    np.frompyfunc(lambda number: np.asarray([number, 1]).astype("f4").sum(), 1, 1)(np.arange(MANY // 2))


def many_shapes() -> None:
    whole, other = np.arange(24), np.arange(24.0)
    calls: list[Callable[[Any], Any]] = [np.asarray, np.array, np.copy, np.sum, np.ravel]
    calls += [lambda one: one.reshape(4, 6), lambda one: one.tolist(), lambda one: one.astype("f4")]
    calls += [lambda one: np.concatenate([one, one, one]), lambda one: np.stack([one, one])]
    for number in range(MANY // 3):
        calls[number * 7 % len(calls)](whole if number % 3 else other)


def failing() -> None:
    for number in range(MANY):
        try:
            math.sqrt(-1.0 if number % 5 == 0 else 4.0)
            np.asarray([1, 2]).reshape(3)
        except ValueError:
            pass


def long_conversions() -> None:
    items = list(range(50))
    for number in range(MANY // 30):
        np.array(items[: number % 50 + 1])


def large() -> None:
    whole = np.zeros(3_000)
    for _ in range(MANY // 3):
        made = whole + 1.0
        made.copy()


def losing() -> None:
    for number in range(MANY):
        np.asarray([2**53 + 1 + number % 2 * 2]).astype("f8")


LOOPS = (sizes, nested, many_shapes, failing, long_conversions, large, losing)


def lines(trace: Any) -> dict[Any, Any]:
    told = {(one.site.line, one.site.text): (one.calls, one.conversions) for one in trace.crossings}
    assert told
    return told


def copies(trace: Any) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for one in trace.fact.copies:
        key = (one.site.line, one.function, one.verdict)
        found[(*key, "times")] += one.times
        found[(*key, "copied")] += one.copied_bytes
        found[(*key, "span")] += one.span_bytes
    return found


def calls(trace: Any) -> Counter[Any]:
    found: Counter[Any] = Counter()
    waiting = list(trace.calls)
    while waiting:
        one = waiting.pop()
        waiting += one.calls
        found[one.site.line, one.name] += one.times
        found[one.site.line, one.name, "failed"] += one.failed
        for each in one.conversions:
            found[one.name, each.function] += each.times
            found[one.name, each.function, "failed"] += each.failed
            found[one.name, each.function, "bytes"] += each.made_bytes + each.copied_bytes + each.shared_bytes
    return found


def losses(trace: Any) -> int:
    return sum(one.times * one.lost for one in trace.losses)


@pytest.mark.parametrize("loop", LOOPS)
def test_what_is_added_up_is_what_a_stream_keeps(loop: Callable[[], None]) -> None:
    loop()  # what NumPy asks for once only
    with inspector.trace("numpy", "math", mode="stream") as stream:
        loop()
    with inspector.trace("numpy", "math") as ring:
        loop()
    assert ring.dropped == 0 and stream.dropped == 0
    assert ring.events < 80_000 < stream.events
    assert lines(ring) == lines(stream)
    assert calls(ring) == calls(stream)
    assert copies(ring) == copies(stream)
    assert losses(ring) == losses(stream)


def test_a_long_loop_has_its_row_and_so_have_the_lines_before_it() -> None:
    made = 0
    with inspector.trace("numpy") as t:
        early = np.arange(1_000.0).copy()
        for number in range(LONG):
            made += np.asarray([number]).nbytes
    assert t.dropped == 0 and t.events < 80_000
    (line,) = [one for one in t.crossings if "[number]" in one.site.text]
    (copy,) = [one for one in t.copies if one.source.startswith("list")]
    assert (line.calls, copy.times, copy.copied_bytes) == (LONG, LONG, made)
    assert [one.copied_bytes for one in t.copies if one.function.endswith("copy")] == [early.nbytes]
    (row,) = [one for one in t.statements.rows if "[number]" in one.site.text and one.copied_bytes]
    assert (row.copied_bytes, row.times) == (made, LONG)


def test_each_thread_adds_up_its_own() -> None:
    together = threading.Barrier(3)

    def work(times: int) -> None:
        together.wait()
        for number in range(times):
            np.asarray([number])

    given = (MANY, 2 * MANY, 3 * MANY)
    with inspector.trace("numpy") as t:
        at_once(*(lambda times=one: work(times) for one in given))  # type: ignore[misc]
    assert t.dropped == 0
    assert sum(one.times for one in t.calls if one.name == "numpy.asarray") == sum(given)


def test_how_long_the_gil_was_released_is_told_of_all() -> None:
    large = np.zeros(100_000)

    def released(mode: Any) -> tuple[int, int]:
        with inspector.trace("numpy", mode=mode) as t:
            for _ in range(MANY // 4):
                large.copy()
                np.asarray([1, 2, 3]).tolist()
        (one,) = [found for found in t.fact.released if found.function.endswith("copy")]
        return one.times, int(one.released_ns)  # type: ignore[arg-type]

    (times, ns), (all_times, all_ns) = released("ring"), released("stream")
    assert times == all_times and all_ns / 3 < ns < all_ns * 3


def test_whose_bytes_an_object_has_is_not_guessed() -> None:
    """The call that made them may have no record, and an older one may have had its memory."""
    with inspector.trace("numpy") as t:
        for number in range(2 * MANY):
            made = np.asarray([number])
        kept = made.copy()
    assert isinstance(t.of(made), Unknown) or t.of(made)[0].source == "list of 1 int"  # type: ignore[index]
    assert isinstance(t.of(kept), Unknown) or t.of(kept)[0].function.endswith("copy")  # type: ignore[index]
