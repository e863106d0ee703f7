"""Record calls of native functions with arguments and both stacks.

Runs PROGRAM under gdb from its start, or watches a running process (--pid).
Exit code 1: the program failed.
"""

# SPDX-License-Identifier: MIT
import argparse
import tempfile
from typing import Any

from inspector.errors import EXIT_DONE, EXIT_FINDINGS, InspectorError
from inspector.faces.arguments import BREAK, DRAW, WRITE, add_options

GROUP = "inspect running programs"
SECONDS = 10.0


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add = parser.add_argument
    add("--at", action="append", default=[], metavar="PLACE", help="a function, file.c:line or a prototype")
    add_options(parser, BREAK[:2])
    records = ("full", "stacks", "python", "native", "arguments", "count")
    add("--record", default="full", choices=records, help="what to record; less than full is faster")
    add("--budget", type=int, default=1000, metavar="N", help="record at most N hits (default: 1000)")
    add(
        "--depth",
        type=int,
        default=40,
        metavar="N",
        help="record at most N native frames a hit (default: 40)",
    )
    add("--pid", type=int, help="watch this process instead of a program")
    add("--last", action="store_true", help="trace too; a crash report then has the last calls")
    add("--seconds", type=float, default=SECONDS, help=f"how long to watch --pid (default: {SECONDS:g})")
    add("--startup", action="store_true", help="also the hits of start-up and of Python itself")
    add("program", nargs="*", metavar="-- PROGRAM ARGS", help="what to run")
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Record, draw; returns EXIT_FINDINGS where the program failed."""
    from inspector.faces.cli.output import show
    from inspector.sessions import running

    if bool(options.program) == bool(options.pid):
        raise InspectorError(
            "give either a program or a process.",
            slug="bad-option",
            why="a program follows --; --pid takes the id of a process",
            do="inspector break --at PLACE -- PROGRAM ARGS",
        )
    recording = {"mode": options.record, "budget": options.budget, "depth": options.depth}
    facts: dict[str, Any] = {}
    known: dict[str, Any] = {"preset": options.preset, "prototypes": options.prototype}
    with tempfile.TemporaryDirectory(prefix="inspector-last-") as folder:
        if options.pid:
            hits = running.watch(options.pid, *options.at, seconds=options.seconds, **known, **recording)
            code = 0
        else:
            known["record_into"] = folder if options.last else ""
            hits, code = running.launch(
                options.program, *options.at, quiet=options.json, folder=folder, **known, **recording
            )
            facts |= _last(folder) if options.last and code < 0 else {}
        if not options.startup:
            hits = running.of_program(hits, options.program or (), folder, options.preset)
    show(running.report(hits, **facts), options)
    return EXIT_FINDINGS if code else EXIT_DONE


def _last(folder: str) -> dict[str, Any]:
    """The last calls of a program that died; {} where none were recorded."""
    from inspector.sessions import running

    try:
        return {"crash": running.crash(folder)}
    except InspectorError:
        return {}
