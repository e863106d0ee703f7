"""Draw a saved report; works without the native extension."""

# SPDX-License-Identifier: MIT
import argparse

from inspector.errors import EXIT_DONE
from inspector.faces.arguments import DRAW, WRITE, add_options

GROUP = "read saved reports"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "file", metavar="FILE.json", help="a report by `inspector show --json` or Report.save"
    )
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Draw the report."""
    from inspector.faces.cli.output import show
    from inspector.report import load

    show(load(options.file), options)
    return EXIT_DONE
