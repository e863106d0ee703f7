"""Check the methods of an ALTREP class of R against each other.

The value of the last -e is checked, each method in a forked child of R:

  inspector check-altrep -- Rscript -e 'library(mypackage)' -e 'lazy_abs(c(-1, 2, NA))'

Give it a vector with NA, unsorted, of five elements or more. The exit code is 1 where a clause is broken.
"""

# SPDX-License-Identifier: MIT
import argparse

from inspector.errors import EXIT_DONE, EXIT_FINDINGS
from inspector.faces.arguments import DRAW, WRITE, add_options

GROUP = "inspect running programs"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_options(parser, DRAW, WRITE)
    parser.add_argument("program", metavar="Rscript", help="R's program for scripts")
    parser.add_argument(
        "arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="its arguments, the last -e EXPR"
    )


def run(options: argparse.Namespace) -> int:
    """Check, and draw the contract."""
    from inspector.faces.cli.output import show
    from inspector.report import Report
    from inspector.sessions.r.check import check_altrep, contract_answers

    found = check_altrep([options.program, *options.arguments])
    show(Report(found.provider, {"answers": contract_answers(found), "contract": found}), options)
    return EXIT_DONE if found.ok else EXIT_FINDINGS
