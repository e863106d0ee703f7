"""Check what works on this machine, and say how to fix what does not.

Tries each feature briefly. Exit code 1: our native extension does not load, or a self-test differs.
"""

# SPDX-License-Identifier: MIT
import argparse
import sys

from inspector.errors import EXIT_DONE, EXIT_FINDINGS
from inspector.faces.arguments import DRAW, WRITE, add_options

GROUP = "check this machine"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--selftest", action="store_true", help="prove each mechanism here by a second method; ten seconds"
    )
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Draw the checks."""
    from inspector import api
    from inspector.faces.cli.output import show
    from inspector.report import Report

    if options.selftest:
        return _selftest(options)
    machine = api.doctor()
    show(Report("doctor", {"machine": machine}), options)
    works = {check.part: check.state for check in machine.checks}
    return EXIT_FINDINGS if works["extension"] == "no" else EXIT_DONE


def _selftest(options: argparse.Namespace) -> int:
    """Draw what the self-test found; a terminal shows which check runs."""
    from inspector.faces.cli.output import show
    from inspector.faces.selftest import report, selftest

    machine = selftest(_says if sys.stderr.isatty() else None)
    show(report(machine), options)
    return EXIT_FINDINGS if any(check.state == "no" for check in machine.checks) else EXIT_DONE


def _says(check: str) -> None:
    sys.stderr.write(f"\r\x1b[K{check} \r")
    sys.stderr.flush()
