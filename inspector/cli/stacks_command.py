"""The threads of a running process, native and Python frames."""

from __future__ import annotations

import argparse

from inspector.arguments import DRAW, WRITE, add_options
from inspector.errors import EXIT_DONE

GROUP = "look at running programs"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("pid", type=int, help="the process")
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Draw the stacks."""
    from inspector import running
    from inspector.cli.output import show
    from inspector.report import Report

    show(Report("stacks", {"stacks": running.stacks(options.pid)}), options)
    return EXIT_DONE
