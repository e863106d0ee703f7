"""What fills the heap: live objects by type.

With --script the census is taken after the script ran, its names still alive.
"""

from __future__ import annotations

import argparse

from inspector.errors import EXIT_DONE
from inspector.faces.arguments import DRAW, WRITE, add_options

GROUP = "look at objects"
RETAINED_TYPES = 20


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--script", metavar="FILE", help="run this first")
    parser.add_argument(
        "--snapshot", action="store_true", help="with the script's names, for `inspector diff`"
    )
    parser.add_argument("--retained", action="store_true", help="what each of the first types keeps alive")
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Draw the census."""
    from dataclasses import replace

    from inspector import api
    from inspector.faces.cli.output import show
    from inspector.faces.cli.progress import walks
    from inspector.faces.cli.target import Target
    from inspector.report import Report

    target = Target(options.script, quiet=options.json)
    if options.snapshot:
        with walks():
            taken = api.snapshot(target.module.__dict__)
        own = tuple(held for held in taken.names if not held.name.startswith("__"))
        report = Report("snapshot", {"snapshot": replace(taken, names=own)})
    else:
        retained = RETAINED_TYPES if options.retained else 0
        with walks():
            report = Report("heap", {"heap": api.heap(retained=retained)})
    show(report, options)
    return EXIT_DONE
