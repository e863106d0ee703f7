"""Say where a process's memory went: every resident byte once.

With --script, after the script ran, before its names go. With --pid another
process is read from outside: its blocks are divided by size, not by type.
"""

# SPDX-License-Identifier: MIT
import argparse

from inspector.errors import EXIT_DONE, InspectorError
from inspector.faces.arguments import DRAW, EXPORT, WRITE, add_options

GROUP = "inspect objects"
LARGEST = 4
"""Objects whose path is shown."""


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--script", metavar="FILE", help="run this script first")
    parser.add_argument("--pid", type=int, default=0, help="account for this process instead")
    add_options(parser, DRAW, WRITE, EXPORT)


def run(options: argparse.Namespace) -> int:
    """Draw the account."""
    from inspector.faces.cli.output import show
    from inspector.faces.cli.progress import walks
    from inspector.faces.cli.target import Target
    from inspector.report import Report
    from inspector.sessions.memory import memory

    if options.pid and options.script:
        raise InspectorError(
            "--pid and --script are two processes.", slug="bad-option", do="give one of them"
        )
    target = None if options.pid else Target(options.script, quiet=options.json)
    known = {} if target is None else target.known
    with walks():
        report = Report(
            "memory", {"account": memory(options.pid, largest=LARGEST, known=known, give_back=True)}
        )
    del target  # the script's names lived until here
    show(report, options)
    return EXIT_DONE
