"""A timeline's windows: every timed event is in a box, merged, or counted as left out."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import numpy as np
import pytest

import inspector

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def trace():
    rows = [float(i) for i in range(20_000)]
    with inspector.trace("numpy") as made:
        for _ in range(50):
            np.asarray(rows[:100])
        np.asarray(rows)
    return made


def test_the_whole_accounts_for_every_event(trace) -> None:
    fact = trace.timeline()
    assert fact.begin_ns == 0 and fact.end_ns == fact.whole_ns > 0
    assert sum(box.times for box in fact.boxes) + fact.left_out == fact.events
    assert sum(box.times for box in fact.boxes if box.times > 1) <= fact.merged
    assert 0 < len(fact.boxes) <= 1_500 < fact.events
    assert any("asarray" in box.name for box in fact.boxes)


def test_a_window_has_the_events_in_it_and_tells_more_apart(trace) -> None:
    whole = trace.timeline()
    part = trace.timeline(0, whole.whole_ns // 10)
    assert (part.begin_ns, part.end_ns) == (0, whole.whole_ns // 10)
    assert 0 < part.events < whole.events
    assert all(box.start_ns < part.end_ns for box in part.boxes)


@pytest.mark.parametrize("window", [(10, 10), (10, 5), (-5, 5)])
def test_a_window_that_is_none_is_the_whole(trace, window) -> None:
    assert trace.timeline(*window) == trace.timeline()


def test_a_trace_without_events_has_an_empty_timeline() -> None:
    with inspector.trace("numpy") as made:
        pass
    assert made.timeline().boxes == ()
