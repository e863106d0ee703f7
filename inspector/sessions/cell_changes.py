"""The report of `%%inspect`: what a cell changed."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from dataclasses import replace

from inspector.facts.account import Account, grown
from inspector.facts.growth import Growth
from inspector.facts.heap import Difference
from inspector.report import Report
from inspector.sessions.memory import memory
from inspector.verdicts.differences import LEAST_GROWN_BYTES, with_answers


def what_changed(difference: Difference, before: Account, growth: Callable[[], Growth]) -> Report:
    """What the cell left, in sentences; then the heap and the names in numbers.

    `before`: the account of the time before the cell; another is made where the process grew. `growth`: what
    was asked for meanwhile, told last: the symbols that it looks up take memory.
    """
    grew = difference.resident_bytes
    if isinstance(grew, int) and grew >= LEAST_GROWN_BYTES:
        difference = replace(difference, grew=grown(before, memory()))
    return Report("cell", with_answers(difference, growth()))
