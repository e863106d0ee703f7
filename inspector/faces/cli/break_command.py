"""What reaches a native function, with both stacks in one order.

Runs PROGRAM under gdb from its start, or watches a running process by --pid.
Exit code 1 when the program failed.
"""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

from inspector.errors import EXIT_DONE, EXIT_FINDINGS, InspectorError
from inspector.faces.arguments import DRAW, WRITE, add_options

GROUP = "look at running programs"
SECONDS = 10.0


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add = parser.add_argument
    add("--at", action="append", default=[], metavar="PLACE", help="a function, file.c:line, a prototype")
    add("--preset", help="the places of a library: numpy, cffi, host, reticulate, torch")
    add(
        "--prototype",
        action="append",
        default=[],
        metavar="LINE",
        help="of a function without debug information",
    )
    add("--record", default="full", choices=("full", "stacks", "python", "native", "arguments", "count"))
    add("--budget", type=int, default=1000, metavar="N", help="hits recorded at most (default: 1000)")
    add("--depth", type=int, default=40, metavar="N", help="native frames a hit (default: 40)")
    add("--pid", type=int, help="a running process instead of a program")
    add("--last", action="store_true", help="trace it too: a crash comes with its last calls")
    add("--seconds", type=float, default=SECONDS, help=f"how long with --pid (default: {SECONDS:g})")
    add("program", nargs="*", metavar="-- PROGRAM ARGS", help="what to run")
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Collect, draw; the exit code says how the program ended."""
    from inspector.faces.cli.output import show
    from inspector.report import Report
    from inspector.sessions import running

    if bool(options.program) == bool(options.pid):
        raise InspectorError(
            "give either a program or a process.",
            slug="bad-option",
            why="a program follows --, a process is named by --pid",
            do="inspector break --at PLACE -- PROGRAM ARGS",
        )
    asked = {"mode": options.record, "budget": options.budget, "depth": options.depth}
    facts: dict[str, Any] = {}
    known: dict[str, Any] = {"preset": options.preset, "prototypes": options.prototype}
    if options.pid:
        hits, code = running.watch(options.pid, *options.at, seconds=options.seconds, **known, **asked), 0
    else:
        with tempfile.TemporaryDirectory(prefix="inspector-last-") as folder:
            known["record_into"] = folder if options.last else ""
            hits, code = running.launch(options.program, *options.at, quiet=options.json, **known, **asked)
            facts |= _last(folder) if options.last and code < 0 else {}
    show(Report("breaks", {"breaks": hits, **facts}), options)
    return EXIT_FINDINGS if code else EXIT_DONE


def _last(folder: str) -> dict[str, Any]:
    """The last calls of a program that died; nothing where its Python recorded none."""
    from inspector.sessions import running

    try:
        return {"crash": running.crash(folder)}
    except InspectorError:
        return {}
