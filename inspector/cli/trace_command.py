"""What a program copies and converts at the border of native code.

It is run as python would:

  inspector trace script.py ARGS       a script, with its arguments
  inspector trace -m package ARGS      a module, as python -m runs it
  inspector trace --of numpy app.py    functions of numpy only

What the program prints comes first; with --json it goes to stderr.
"""

from __future__ import annotations

import argparse

from inspector.arguments import DRAW, TRACE, WRITE, add_options
from inspector.errors import EXIT_DONE, InspectorError

GROUP = "look at running programs"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--of", dest="modules", metavar="MODULE", action="append", help="trace this module only"
    )
    parser.add_argument("-o", "--out", metavar="FILE", help="save the trace")
    add_options(parser, TRACE, DRAW, WRITE)
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module's name")
    parser.add_argument("program", metavar="PROGRAM", help="a Python file, or a module with -m")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="its own arguments")


def run(options: argparse.Namespace) -> int:
    """Run the program traced, and draw the trace."""
    from inspector import traced
    from inspector.cli.output import show
    from inspector.cli.program import readable
    from inspector.cli.program import run as run_program

    if not options.module:
        readable(options.program)
    trace = traced.trace(*options.modules or (), grade=options.grade)
    failure: InspectorError | None = None
    try:
        with trace:
            run_program(options.program, options.arguments, as_module=options.module, quiet=options.json)
    except InspectorError as error:
        if error.slug != "script-failed":
            raise
        failure = error
    if options.out:
        trace.save(options.out)
    show(trace.report, options)
    if failure is not None:
        raise failure
    return EXIT_DONE
