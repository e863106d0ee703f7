"""Say what each thread of a process waits for, and print its frames."""

# SPDX-License-Identifier: MIT
import argparse

from inspector.errors import EXIT_DONE
from inspector.faces.arguments import DRAW, WRITE, add_options

GROUP = "inspect running programs"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("pid", type=int, help="the process id")
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Draw the stacks."""
    from inspector.faces.cli.output import show
    from inspector.report import Report
    from inspector.sessions.waiting import hang

    show(Report("stacks", hang(options.pid)), options)
    return EXIT_DONE
