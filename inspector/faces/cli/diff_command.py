"""Compare two saved reports, snapshots or traces, field by field.

Exit code 0: nothing differs; 1: something differs.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from inspector.errors import EXIT_DONE, EXIT_FINDINGS, InspectorError
from inspector.faces.arguments import DRAW, WRITE, add_options

if TYPE_CHECKING:
    from inspector.facts.heap import Difference
    from inspector.report import Report
    from inspector.sessions.trace import Traced

GROUP = "read saved reports"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("first", metavar="A.json", help="a saved report")
    parser.add_argument("second", metavar="B.json", help="the report to compare it with")
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Draw the difference."""
    from inspector import api
    from inspector.faces.cli.output import show
    from inspector.report import Report
    from inspector.sessions.trace import Traced, load

    first, second = load(options.first), load(options.second)
    if isinstance(first, Traced) or isinstance(second, Traced):
        return _between_traces(first, second, options)
    if set(first.facts) == set(second.facts) == {"snapshot"}:
        change = _between_processes(second.snapshot - first.snapshot)
        show(Report("difference", {"difference": change}), options)
        return EXIT_FINDINGS if change.types or change.names else EXIT_DONE
    compared = api.compare(first, second)
    show(Report(f"{first.name} beside {second.name}", {"comparison": compared}), options)
    return EXIT_FINDINGS if compared.changes else EXIT_DONE


def _between_traces(first: Traced | Report, second: Traced | Report, options: argparse.Namespace) -> int:
    """Draw what changed from `first`, the earlier trace, to `second`."""
    from inspector.faces.cli.output import show
    from inspector.sessions.trace import Traced

    if not isinstance(first, Traced) or not isinstance(second, Traced):
        raise InspectorError(
            "a trace can only be compared with a trace.",
            slug="bad-report",
            why="one of the files is a saved trace, the other a report",
            do="inspector diff A.trace B.trace",
        )
    difference = second - first
    show(difference, options)
    told = difference.trace_difference
    return EXIT_FINDINGS if told.changes or told.lines else EXIT_DONE


def _between_processes(change: Difference) -> Difference:
    """The difference without names that were only rebound: another process has other objects anyway."""
    from dataclasses import replace

    kept = (row for row in change.names if row.change != "rebound" or (row.references, row.bytes) != (0, 0))
    return replace(change, names=tuple(kept))
