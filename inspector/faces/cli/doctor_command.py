"""Check what works on this machine, and say how to fix what does not.

Tries each feature briefly. Exit code 1: our native extension does not load.
"""

# SPDX-License-Identifier: MIT
import argparse

from inspector.errors import EXIT_DONE, EXIT_FINDINGS
from inspector.faces.arguments import DRAW, WRITE, add_options

GROUP = "check this machine"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Draw the checks."""
    from inspector import api
    from inspector.faces.cli.output import show
    from inspector.report import Report

    machine = api.doctor()
    show(Report("doctor", {"machine": machine}), options)
    works = {check.part: check.state for check in machine.checks}
    return EXIT_FINDINGS if works["extension"] == "no" else EXIT_DONE
