"""Look into a running Python; nothing is run in it, but for trace.

  inspector attach PID show EXPR           an object: type, references, value, contents
  inspector attach PID owners EXPR         who holds it: its memory is searched
  inspector attach PID stacks              its threads, native and Python frames
  inspector attach PID sample --seconds 5  where it spends its time
  inspector attach PID trace --seconds 5   its conversions: the extension is loaded there, at a safe point
  inspector attach PID step --at PLACE     stop it there, under gdb, and step it: a word a line, quit ends

EXPR is a path: names, attributes and constant indexes, as in cache["k"][3].rows.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from inspector.errors import EXIT_DONE, InspectorError
from inspector.faces.arguments import DRAW, WRITE, add_options

GROUP = "look at running programs"
SECONDS = 2.0
DEADLINE = 2.0
STEP_S = 60.0
"""How long a stop is waited for."""
WITHOUT = ("stacks", "sample", "trace", "step")


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("pid", type=int, help="the process")
    parser.add_argument("question", choices=("show", "owners", *WITHOUT), help="what to ask")
    parser.add_argument("expression", nargs="?", metavar="EXPR", help="of show and owners: a path")
    add = parser.add_argument
    add("--seconds", type=float, help=f"of sample and trace (default: {SECONDS:g}), of step ({STEP_S:g})")
    add("--at", action="append", default=[], metavar="PLACE", help="of step: as of `inspector break`")
    add("--of", action="append", default=[], metavar="MODULE", help="of trace: these modules only")
    add(
        "--deadline", type=float, default=DEADLINE, help=f"s to wait for a safe point (default: {DEADLINE:g})"
    )
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Ask, draw."""
    from inspector.faces.cli.output import show
    from inspector.report import Report

    if (options.expression is None) != (options.question in WITHOUT):
        raise InspectorError(
            f"{options.question} needs {'an EXPR' if options.expression is None else 'no EXPR'}.",
            slug="bad-option",
            do="inspector attach --help",
        )
    if options.question == "step":
        return _step(options)
    column, fact = _asked(options)
    show(Report(options.expression or column, {column: fact}), options)
    return EXIT_DONE


def _step(options: argparse.Namespace) -> int:
    from inspector.faces.cli.stepping import converse
    from inspector.sessions import running

    with running.step(options.pid, *options.at) as live:
        converse(live, STEP_S if options.seconds is None else options.seconds, options)
    return EXIT_DONE


def _asked(options: argparse.Namespace) -> tuple[str, Any]:
    from inspector.sessions import running

    other = running.attach(options.pid)
    seconds = SECONDS if options.seconds is None else options.seconds
    if options.question == "show":
        return "remote", other.inspect(options.expression)
    if options.question == "owners":
        return "owners", other.owners(options.expression)
    if options.question == "stacks":
        return "stacks", other.stacks()
    if options.question == "sample":
        return "samples", other.sample(seconds)
    found = other.trace(seconds, *options.of, deadline_s=options.deadline)
    for note in other.notes:
        print(f"inspector: {note}", file=sys.stderr)
    return ("samples" if hasattr(found, "rounds") else "trace"), found
