"""How often a result was given, and its bytes, with the calls that have no record of their own."""

# SPDX-License-Identifier: MIT
from typing import NamedTuple

import numpy as np

from inspector.tracing.events.decode import Events, Rows


class Told(NamedTuple):
    """What records of results tell together."""

    times: int
    logical_bytes: int
    span_bytes: int


def told_by(events: Events, results: Rows) -> Told:
    """`results`: rows of SPAN records."""
    records = events.records
    times, logical, extent = len(results), records["start"][results].sum(), records["aux"][results].sum()
    for result, row in _of_their_calls(events, results):
        one, of_each = records[row], records[result]
        alone = one["func"] == 1
        times += int(one["val"])
        logical += one["obj"] if alone else of_each["start"] * one["val"]
        extent += _extent(one) if alone else of_each["aux"] * one["val"]
    return Told(times, int(logical), int(extent))


def _of_their_calls(events: Events, results: Rows) -> list[tuple[int, int]]:
    """(result, the SUM of its call), where it has one: the next, if its call stands before the result."""
    rows, of = events.sums()
    behind = np.searchsorted(rows, results)
    near = behind < len(rows)
    near[near] = of[behind[near]] < results[near]
    return list(zip(results[near].tolist(), rows[behind[near]].tolist(), strict=True))


def _extent(one: np.void) -> int:
    return int(one["refs"]) % (1 << 32) << 32 | int(one["lasti"]) % (1 << 32)
