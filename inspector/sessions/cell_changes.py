"""The report of `%%inspect`: what a cell changed."""

# SPDX-License-Identifier: MIT
from inspector.facts.heap import Difference
from inspector.report import Report
from inspector.verdicts.differences import with_answers


def what_changed(difference: Difference) -> Report:
    """What the cell left, in sentences; then the heap and the names in numbers."""
    return Report("cell", with_answers(difference))
