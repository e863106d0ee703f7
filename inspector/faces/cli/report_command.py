"""Draw a saved report; the extension is not needed."""

from __future__ import annotations

import argparse

from inspector.errors import EXIT_DONE
from inspector.faces.arguments import DRAW, WRITE, add_options

GROUP = "look at saved reports"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("file", metavar="FILE.json", help="what `inspector show --json` or Report.save wrote")
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Draw the report."""
    from inspector.faces.cli.output import show
    from inspector.report import load

    show(load(options.file), options)
    return EXIT_DONE
