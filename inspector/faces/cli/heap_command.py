"""Show what fills the heap: live objects by type.

With --script, objects are counted after the script ran, before its names go.
"""

# SPDX-License-Identifier: MIT
import argparse

from inspector.errors import EXIT_DONE
from inspector.faces.arguments import DRAW, WRITE, add_options

GROUP = "inspect objects"
RETAINED_TYPES = 20
LARGEST = 6


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--script", metavar="FILE", help="run this script first")
    parser.add_argument(
        "--snapshot", action="store_true", help="add the script's names, for `inspector diff`"
    )
    parser.add_argument("--retained", action="store_true", help="add what the largest types keep alive")
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Draw the census."""
    from dataclasses import replace

    from inspector import api
    from inspector.faces.cli.output import show
    from inspector.faces.cli.progress import walks
    from inspector.faces.cli.target import Target
    from inspector.report import Report
    from inspector.sessions.memory import heap

    target = Target(options.script, quiet=options.json)
    if options.snapshot:
        with walks():
            taken = api.snapshot(target.module.__dict__)
        own = tuple(held for held in taken.names if not held.name.startswith("__"))
        report = Report("snapshot", {"snapshot": replace(taken, names=own)})
    else:
        retained = RETAINED_TYPES if options.retained else 0
        with walks():
            report = Report("heap", {"heap": heap(retained, LARGEST, target.known)})
    show(report, options)
    return EXIT_DONE
