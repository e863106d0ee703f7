"""Inspect a running process; only trace, --lines run code in it.

  inspector attach PID show EXPR           type, references, value, contents
  inspector attach PID owners EXPR         all holders of an object
  inspector attach PID stacks              native and Python frames of threads
  inspector attach PID sample --seconds 5  where the process spends its time
  inspector attach PID memory --seconds 5  by which kind of memory it grows;
                                           --lines: asked for by which lines
  inspector attach PID trace --seconds 5   its conversions; loads our extension
                                           into the process at a safe point
  inspector attach PID step --at PLACE     stop at PLACE under gdb and step;
                                           type one command a line, `quit` ends

EXPR is a path of names, attributes and constant indexes: cache["k"][3].rows.
"""

# SPDX-License-Identifier: MIT
import argparse
import sys

from inspector.errors import EXIT_DONE, InspectorError
from inspector.faces.arguments import DRAW, EXPORT, WRITE, add_options
from inspector.faces.cli import stacks_command

GROUP = "inspect running programs"
SECONDS = 2.0
DEADLINE = 2.0
STEP_S = 60.0
"""How long `step` waits for a stop, in seconds."""
WITHOUT = ("stacks", "sample", "memory", "trace", "step")


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("pid", type=int, help="the process id")
    parser.add_argument("question", nargs="?", choices=("show", "owners", *WITHOUT), help="what to find out")
    parser.add_argument("expression", nargs="?", metavar="EXPR", help="for show and owners: a path")
    add = parser.add_argument
    add(
        "--seconds",
        type=float,
        help=f"seconds to sample, watch or trace ({SECONDS:g}), to wait for step ({STEP_S:g})",
    )
    add("--at", action="append", default=[], metavar="PLACE", help="for step: as for `inspector break`")
    add("--of", action="append", default=[], metavar="MODULE", help="for trace: this module only")
    add("--lines", action="store_true", help="for memory: loads our extension there, as trace does")
    add("--deadline", type=float, default=DEADLINE, help=f"seconds for a safe point (default: {DEADLINE:g})")
    add_options(parser, DRAW, WRITE, EXPORT)


def run(options: argparse.Namespace) -> int:
    """Answer the question and draw it."""
    from inspector.faces.cli.output import show
    from inspector.report import Report
    from inspector.sessions import running

    if options.question is None:
        usage = [line.strip().partition("  ")[0] for line in (__doc__ or "").splitlines()]
        asked = [line for line in usage if line.startswith("inspector attach")]
        raise InspectorError(
            f"what do you want to know of process {options.pid}?",
            slug="bad-option",
            do="\n".join(asked).replace("PID", str(options.pid)),
        )
    if (options.expression is None) != (options.question in WITHOUT):
        raise InspectorError(
            f"{options.question} needs {'an EXPR' if options.expression is None else 'no EXPR'}.",
            slug="bad-option",
            do="inspector attach --help",
        )
    if options.question == "step":
        return _step(options)
    if options.question == "stacks":
        return stacks_command.run(options)
    if options.question == "memory":
        return _memory(options)
    if options.question == "trace":
        return _trace(options)
    if options.question == "show":
        show(running.shown(options.pid, options.expression), options)
    elif options.question == "owners":
        owners = running.attach(options.pid).owners(options.expression)
        show(Report(options.expression, {"owners": owners}), options)
    else:
        seconds = SECONDS if options.seconds is None else options.seconds
        show(running.report(running.attach(options.pid).sample(seconds)), options)
    return EXIT_DONE


def _memory(options: argparse.Namespace) -> int:
    from inspector.faces.cli.output import show
    from inspector.sessions.growth.attached import growth_of

    seconds = SECONDS if options.seconds is None else options.seconds
    show(growth_of(options.pid, seconds, options.lines), options)
    return EXIT_DONE


def _step(options: argparse.Namespace) -> int:
    from inspector.faces.cli.stepping import converse
    from inspector.sessions import running

    with running.step(options.pid, *options.at) as live:
        converse(live, STEP_S if options.seconds is None else options.seconds, options)
    return EXIT_DONE


def _trace(options: argparse.Namespace) -> int:
    from inspector.faces.cli.output import show
    from inspector.sessions import running
    from inspector.sessions.trace import Traced

    seconds = SECONDS if options.seconds is None else options.seconds
    other = running.attach(options.pid)
    found = other.trace(seconds, *options.of, deadline_s=options.deadline)
    for note in other.notes:
        print(f"inspector: {note}", file=sys.stderr)
    show(found.report if isinstance(found, Traced) else running.report(found), options)
    return EXIT_DONE
