"""Browse an object or a saved report full screen.

FILE is a report written by `--json`; EXPR is as for `inspector show`:

  inspector browse report.json
  inspector browse 'numpy.arange(6)[::2]'
  inspector browse rows --script app.py
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from inspector.errors import EXIT_DONE

if TYPE_CHECKING:
    from inspector.report import Report

GROUP = "inspect objects"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("what", metavar="FILE|EXPR", help="a saved report, or an expression")
    parser.add_argument("--script", metavar="FILE", help="run this first and use its names")


def run(options: argparse.Namespace) -> int:
    """Open the screen."""
    from inspector.faces.screens import opening

    opening.check("`inspector show` and `inspector report` print the same facts")
    report = read(options.what, options.script)
    from inspector.faces.screens.browse import Browse

    Browse(report).run()
    return EXIT_DONE


def read(what: str, script: str | None) -> Report:
    """The report in the file `what`; where there is none, of the expression `what`."""
    from pathlib import Path

    from inspector import api, report

    if script is None and (what.endswith(".json") or Path(what).is_file()):
        return report.load(what)
    from inspector.faces.cli.target import Target

    target = Target(script)
    return api.inspect(
        target.evaluate(what), name=what, names=target.names, known=target.known, also=("chain", "retained")
    )
