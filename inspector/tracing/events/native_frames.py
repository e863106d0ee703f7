"""Native frames of records: the C functions between the call from Python and the C-API function."""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping
from functools import cache

import numpy as np

from inspector.binaries.addresses import place
from inspector.facts.native import Place
from inspector.tracing.events.decode import Events, Rows

STACKS_MAX = 1 << 13
"""Upper limit of the numbers (native/trace/record/stacks.c)."""


def named(stacks: Mapping[int, tuple[int, ...]]) -> dict[int, tuple[Place, ...]]:
    """Places of return addresses: the call's own address is the return address minus one."""
    known = cache(lambda address: place(address - 1))
    return {number: tuple(map(known, frames)) for number, frames in stacks.items()}


def of_records(events: Events, rows: Rows) -> Rows:
    """For each of these records (no continuations) the number of its frames, or 0.

    Frames of the same functions have one number, whatever the calling addresses in them.
    """
    if not events.stacks:
        return np.zeros(len(rows), np.int64)
    found: Rows = _alike(events)[stacks_of(events, rows)]
    return found


def stacks_of(events: Events, rows: Rows) -> Rows:
    """For each of these records the number of its stack, or 0."""
    told = events.of_kind("STACK")
    heads = np.flatnonzero(~events.flagged("CONTINUATION"))
    number = np.zeros(len(heads), np.int64)
    number[np.searchsorted(heads, told, side="right") - 1] = events.records["val"][told]
    found: Rows = number[np.searchsorted(heads, rows)]
    return found


def _alike(events: Events) -> Rows:
    """Number -> the first number whose frames are of the same functions."""
    first: dict[tuple[object, ...], int] = {}
    numbers = np.zeros(STACKS_MAX, np.int64)
    for number, frames in sorted(events.stacks.items()):
        functions = tuple((one.library, one.symbol, one.address - one.offset_bytes) for one in frames)
        numbers[number] = first.setdefault(functions, number)
    return numbers
