"""The pytest plug-in: `inspect_report(x)` in a test; its card is printed when the test fails.

Found by pytest through the entry point `pytest11`; pytest imports this file at every start, so it imports
nothing of the inspector before a test asks. Switch it off with `-p no:inspector`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from inspector.report import Report

SECTION = "inspected"
PROMISES = ("no_copy", "no_materialize")
"""Markers, each the name of the block that a marked test runs in."""


class InspectReport:
    """The fixture: call it with an object, get its Report; the card goes to the test's own sections."""

    def __init__(self, node: pytest.Item) -> None:
        self._node = node

    def __call__(self, x: Any, name: str = "object", *, scan: bool = False) -> Report:
        """The Report of `x`, headed `name`; `scan` searches the process's memory for its owners."""
        from inspector import api

        report = api.inspect(x, name=name, scan=scan)
        self._node.add_report_section("call", SECTION, report.to_text())
        return report


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest our markers."""
    config.addinivalue_line(
        "markers", "no_copy(*modules, least_bytes=1): the test fails where it copies bytes in native code"
    )
    config.addinivalue_line(
        "markers", "no_materialize(*, least_bytes=1): the test fails where data comes to be that was lazy"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Run a marked test in its promise: a breach fails it, naming the call and the line."""
    found = {name: marker for name in PROMISES if (marker := item.get_closest_marker(name)) is not None}
    if not found:
        return (yield)
    from inspector import promises

    with ExitStack() as blocks:
        for name, marker in found.items():
            blocks.enter_context(getattr(promises, name)(*marker.args, **marker.kwargs))
        return (yield)


@pytest.fixture
def inspect_report(request: pytest.FixtureRequest) -> InspectReport:
    """`report = inspect_report(x)`: look at `x`; if the test fails, its card is shown with the failure."""
    return InspectReport(request.node)
