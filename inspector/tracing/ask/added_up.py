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
    records, (rows, _) = events.records, events.sums()
    times, logical, extent = len(results), records["start"][results].sum(), records["aux"][results].sum()
    behind = np.searchsorted(rows, results)
    sums = _of_their_calls(events, rows, results, behind)
    for result, row in sums:
        one, of_each = records[row], records[result]
        alone = one["func"] == 1
        times += int(one["val"])
        logical += one["obj"] if alone else of_each["start"] * one["val"]
        extent += _extent(one) if alone else of_each["aux"] * one["val"]
    return Told(times, int(logical), int(extent))


def _of_their_calls(events: Events, rows: Rows, results: Rows, behind: Rows) -> list[tuple[int, int]]:
    """(result, the SUM of its call), where there is one: the next SUM, if no other call begins before it."""
    near = behind < len(rows)
    near[near] = events.head_number()[rows[behind[near]]] == events.head_number()[results[near]]
    return list(zip(results[near].tolist(), rows[behind[near]].tolist(), strict=True))


def _extent(one: np.void) -> int:
    return int(one["refs"]) % (1 << 32) << 32 | int(one["lasti"]) % (1 << 32)
