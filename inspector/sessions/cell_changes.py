"""The report of `%%inspect`: what a cell changed."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Mapping
from dataclasses import replace

from inspector._native import Subject
from inspector.facts.account import Account, grown
from inspector.facts.growth import Growth
from inspector.facts.heap import Difference
from inspector.objects.probes.contents import contents
from inspector.objects.probes.newest import newest_holder
from inspector.report import Report
from inspector.sessions.memory import memory
from inspector.verdicts.differences import LEAST_GROWN_BYTES, unnamed_objects, with_answers


def what_changed(
    difference: Difference,
    before: Account,
    growth: Callable[[], Growth],
    names: Mapping[int, str],
    error: BaseException | None = None,
) -> Report:
    """What the cell left, in sentences; then the heap and the names in numbers.

    `before`: the account of the time before the cell; another is made where the process grew. `growth`: what
    was asked for meanwhile, told last: the symbols that it looks up take memory. `names`: id of a namespace
    -> the user's name for it. `error`: what ended the cell.
    """
    kept = contents(Subject(error)) if error is not None else None
    grew = difference.resident_bytes
    if isinstance(grew, int) and grew >= LEAST_GROWN_BYTES:
        difference = replace(difference, grew=grown(before, memory()))
        if unnamed_objects(difference) >= LEAST_GROWN_BYTES:
            difference = replace(difference, holder=newest_holder(difference.types, names))
    return Report("cell", with_answers(difference, growth(), kept))
