"""What each cell of a notebook adds while its memory is watched, and which of its lines asked for it."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from inspector.facts.answers import Answers
from inspector.facts.growth import Growth, Moment
from inspector.objects.layers.pages import resident_bytes
from inspector.objects.probes.account import accounted
from inspector.report import Report
from inspector.sessions.growth.sampled import Sampled
from inspector.verdicts.answers.growth import asked_for
from inspector.verdicts.differences import LEAST_GROWN_BYTES, cell_added


class WatchedCells:
    """One sampled block a cell; the account is made only after a cell that added LEAST_GROWN_BYTES."""

    def __init__(self) -> None:
        with Sampled() as first:  # the first patch of each library's slots takes a page of its own
            accounted()
        first.forget()
        self._begun_ns, self._before = time.monotonic_ns(), accounted()[0]
        self._resident_bytes = resident_bytes()
        self._sampled: Sampled | None = None
        self._is_told = False
        self._runs: dict[str, list[int]] = defaultdict(list)
        self._moments = [self._moment("")]

    def begin(self, cells: Mapping[str, int]) -> None:
        """Before a cell; `cells`: file names of cells -> their numbers."""
        if self._is_told:  # looking up symbols and drawing took memory of our own
            self._before, self._is_told = accounted()[0], False
        self._resident_bytes = resident_bytes()
        self._sampled = Sampled(cells)
        self._sampled.__enter__()

    def end(self, label: str, source: str) -> Report | None:
        """After it: what it added, if that is much."""
        if self._sampled is None:
            return None
        sampled, self._sampled = self._sampled, None
        sampled.__exit__()
        now = self._moment(label)
        self._moments.append(now)
        change = now.resident_bytes - self._resident_bytes
        earlier, self._runs[source] = self._runs[source], [*self._runs[source], change]
        if change < LEAST_GROWN_BYTES:
            sampled.forget()
            return None
        return self._report(sampled, change, label, earlier)

    def _report(self, sampled: Sampled, change: int, label: str, earlier: list[int]) -> Report:
        self._is_told = True
        found = replace(sampled.growth(self._before), resident_bytes=change, moments=tuple(self._moments))
        told = (*asked_for(found), cell_added(found, label, earlier))
        return Report("growth", {"answers": Answers(told), "growth": found})

    def close(self) -> None:
        """End the block of a cell that did not end."""
        if self._sampled is not None:
            self._sampled.__exit__()
            self._sampled.forget()
            self._sampled = None

    def so_far(self) -> Report:
        """The resident set after each cell."""
        change = self._moments[-1].resident_bytes - self._moments[0].resident_bytes
        took = self._moments[-1].at_ns
        found = Growth(change, (), (), 0, 0, took, tuple(self._moments))
        return Report("growth", {"growth": found})

    def _moment(self, label: str) -> Moment:
        return Moment(time.monotonic_ns() - self._begun_ns, resident_bytes(), label)
