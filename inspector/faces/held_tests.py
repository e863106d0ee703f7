"""Tests judged together: one block watches many tests; their reports wait until it is judged.

To close a block takes as long as a hundred small tests. Each verdict tells its stage, which is the test.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
from _pytest.runner import runtestprotocol

from inspector.errors import InspectorError
from inspector.faces.known_faults import row_of
from inspector.facts.amounts import counted
from inspector.facts.leaks import Leaks, Verdict
from inspector.sessions.leaks import Leaked, lost
from inspector.sessions.leaks_told import report

TESTS_MAX: Final = 256
SECONDS_MAX: Final = 1.0
"""No further test begins in a block that is older, if it took as long as the last judgement."""
TIMES_MAX: Final = 4
"""Of these seconds: longer waits nobody for a report. A block that is closed without a search is as old."""
SECTION: Final = "references lost"


class HeldTests:
    """The tests of one block, each with its reports. Raises InspectorError if no block can be opened.

    `key`: of the property of a report that is a fault.
    """

    judged_s = 0.0
    """What the last judgement of the session took."""

    def __init__(
        self, modules: tuple[str, ...], key: str, is_known: Callable[[Verdict], bool], searches: bool
    ) -> None:
        self.found, self._key, self._is_known = Leaked(modules), key, is_known
        self.found.strict, self.found.searches = False, searches  # some tests call nothing
        self._tests: list[tuple[pytest.Item, list[pytest.TestReport]]] = []
        self._began = time.monotonic()
        self.found.__enter__()

    def run(self, item: pytest.Item, following: pytest.Item | None) -> None:
        """Run a test; its reports are kept."""
        self.found.stage()
        self._tests.append((item, []))
        self._tests[-1][1].extend(runtestprotocol(item, nextitem=following, log=False))

    @property
    def is_full(self) -> bool:
        """Whether the block is to be closed."""
        has_failed = any(one.failed for one in self._tests[-1][1])
        stops = has_failed and bool(self._tests[-1][0].config.getoption("maxfail"))
        least = max(SECONDS_MAX, HeldTests.judged_s) if self.found.searches else TIMES_MAX * SECONDS_MAX
        is_old = time.monotonic() - self._began > min(least, TIMES_MAX * SECONDS_MAX)
        return stops or is_old or len(self._tests) == TESTS_MAX

    def end(self) -> None:
        """Judge, and give pytest the reports."""
        began = time.monotonic()
        try:
            self.found.end()
        except InspectorError as error:
            _fail(self._tests[-1][1], str(error))
        else:
            self._judge(self.found.fact)
        finally:
            HeldTests.judged_s = time.monotonic() - began
            for item, reports in self._tests:
                _log(item, reports)

    def _judge(self, fact: Leaks) -> None:
        """A fault of which no line of Python is known, so no stage, is told of the last test."""
        for stage, (item, reports) in enumerate(self._tests, 1):
            numbers = (stage, 0) if stage == len(self._tests) else (stage,)
            own = replace(fact, verdicts=tuple(one for one in fact.verdicts if one.stage in numbers))
            if certain := tuple(one for one in own.verdicts if one.certain):
                self._tell(own, certain, item.nodeid, reports)
            if new := tuple(one for one in certain if not self._is_known(one)):
                _fail(reports, str(lost(new, fact.many(new[0]))))

    def _tell(
        self, fact: Leaks, certain: tuple[Verdict, ...], test: str, reports: list[pytest.TestReport]
    ) -> None:
        for one in reports:
            one.user_properties += ((self._key, row) for row in told(certain, test))
            if one.when == "call":
                one.sections.append((SECTION, report(Leaked.name, fact).to_text()))


def told(certain: tuple[Verdict, ...], test: str) -> list[str]:
    """The faults of a test: known_faults.Row as JSON."""
    return [json.dumps(row_of(one, test)) for one in certain]


def _fail(reports: list[pytest.TestReport], why: str) -> None:
    """Let the report of the call fail, or that of the setup if there was none; as expected, if it may."""
    called = [one for one in reports if one.when == "call"] or reports[:1]
    for one in called:
        if one.passed:
            one.outcome = "skipped" if hasattr(one, "wasxfail") else "failed"
            one.longrepr = why


def unsearched(some: Counter[str]) -> str:
    """What a session without a search must say, however green."""
    blocks, functions = some["blocks"], [(one, count) for one, count in some.most_common() if one != "blocks"]
    objects = sum(count for _, count in functions)
    shown = ", ".join(f"{one or 'native code'} ×{count:,}" for one, count in functions[:3] if count)
    return (
        "--inspect-leaks=fast: counts only. Not looked for: who holds "
        f"{counted(objects, 'object')}{f' ({shown})' if shown else ''} and {counted(blocks, 'block')} of C "
        "memory; what is lost of them is told without `fast` only"
    )


def _log(item: pytest.Item, reports: list[pytest.TestReport]) -> None:
    hook: Any = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for one in reports:
        hook.pytest_runtest_logreport(report=one)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
