"""The pytest plug-in: `inspect_report(x)` in a test; its card is printed when the test fails.

Found by pytest through the entry point `pytest11`; pytest imports this file at every start, so it imports
nothing of the inspector before a test asks. Switch it off with `-p no:inspector`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from inspector.report import Report

SECTION = "inspected"


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


@pytest.fixture
def inspect_report(request: pytest.FixtureRequest) -> InspectReport:
    """`report = inspect_report(x)`: look at `x`; if the test fails, its card is shown with the failure."""
    return InspectReport(request.node)
