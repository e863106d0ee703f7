"""Memory for ui.perfetto.dev, in Chrome's JSON: counters over time, and stacks whose width is bytes.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (Trace Event Format)
The format has no stacks of memory: they are slices on a track of their own, a microsecond for each byte.
"""

# SPDX-License-Identifier: MIT
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Any, Final

from inspector.facts.account import KINDS, Account
from inspector.facts.growth import Growth
from inspector.views.memory_stacks import Frame, Stacks

_Event = dict[str, Any]
US: Final = 1000
"""Nanoseconds of a microsecond, the format's unit of time."""


def to_perfetto(name: str, groups: Sequence[Stacks], facts: Mapping[str, Any]) -> str:
    """Counters of the resident set and of each row, slices for the stacks."""
    events = [_named("process_name", 0, name)]
    growth, account = facts.get("growth"), facts.get("account")
    if isinstance(growth, Growth):
        events += _counted(growth)
    if isinstance(account, Account):
        events += _rows(account, 0)
    for track, group in enumerate(groups, 1):
        events.append(_named("thread_name", track, f"{group.name} (1 us = 1 byte)"))
        events += _slices(group, track)
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events})


def _named(what: str, track: int, name: str) -> _Event:
    return {"ph": "M", "name": what, "pid": 1, "tid": track, "args": {"name": name}}


def _counted(growth: Growth) -> Iterator[_Event]:
    for moment in growth.moments:
        yield _counter("resident", moment.at_ns / US, moment.resident_bytes)
    ends = (0, growth.watched_ns / US)
    for account, at in zip(growth.accounts, ends, strict=False):
        yield from _rows(account, at)


def _rows(account: Account, at: float) -> Iterator[_Event]:
    for row in account.rows:
        yield _counter(KINDS[row.kind], at, row.resident_bytes)


def _counter(name: str, at: float, size: int) -> _Event:
    return {"ph": "C", "name": name, "pid": 1, "ts": at, "args": {"bytes": size}}


def _slices(group: Stacks, track: int) -> Iterator[_Event]:
    """Each stack's frames, one inside the other; neighbours that begin alike share their outer frames."""
    rows = sorted(group.rows, key=lambda row: [tuple(frame) for frame in row[0]])
    opened, at = list[tuple[Frame, int]](), 0
    for (stack, size), (following, _) in pairwise([*rows, ((), 0)]):
        opened += [(frame, at) for frame in stack[len(opened) :]]
        at += size
        common = _common(stack, following)
        while len(opened) > common:
            frame, begun = opened.pop()
            yield _slice(frame, track, begun, at - begun)


def _common(one: tuple[Frame, ...], other: tuple[Frame, ...]) -> int:
    """How many outer frames two stacks share."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))


def _slice(frame: Frame, track: int, begun: int, size: int) -> _Event:
    where = {"file": frame.file, "line": frame.line} if frame.file else {}
    args = {"bytes": size} | where
    return {"ph": "X", "name": frame.name, "pid": 1, "tid": track, "ts": begun, "dur": size, "args": args}
