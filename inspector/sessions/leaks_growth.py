"""Native memory that a watched cell left: a report of leaks beside the account of the process."""

# SPDX-License-Identifier: MIT
from inspector.facts.account import Account, grown
from inspector.facts.answers import Answers
from inspector.report import Report
from inspector.sessions.memory import memory
from inspector.verdicts.differences import native_growth


def with_growth(report: Report, before: Account, runs: int) -> Report:
    """The report; with the native memory that `runs` runs of the code left, if it is much.

    It stands first, unless a fault was found.
    """
    said = tuple(native_growth(grown(before, memory()), runs))
    if not said:
        return report
    told = report.answers.rows
    rows = (*told, *said) if report.leaks.verdicts else (*said, *told)
    return Report(report.name, report.facts | {"answers": Answers(rows)})
