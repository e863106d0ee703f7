"""Trace what a program copies and converts for native code.

Runs a program as python would:

  inspector trace script.py ARGS       a script with its arguments
  inspector trace -m package ARGS      a module, as python -m runs it
  inspector trace --of numpy app.py    only functions of numpy
  inspector trace --scheduler ADDRESS app.py   the workers of a Dask cluster
  inspector trace -- PROGRAM ARGS      a program that is or embeds Python
  inspector trace --lazy -- Rscript script.R   R's lazy vectors (ALTREP): made, read, materialized

The program's output comes first; with --json it goes to stderr. On GitHub each line that copied or lost
values gets an annotation.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from inspector.errors import EXIT_DONE, InspectorError
from inspector.faces.arguments import DRAW, ONLY, TRACE, WRITE, add_options, only_here, recording

if TYPE_CHECKING:
    from inspector.sessions.trace import Traced

GROUP = "inspect running programs"
WORKER_EVENTS = 1 << 20
"""How many of each worker's last records a Parquet file takes."""


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--of", dest="modules", metavar="MODULE", action="append", help="trace this module only"
    )
    parser.add_argument(
        "-o", "--out", "--save", metavar="FILE", help="save the trace; a name in .parquet writes Parquet"
    )
    parser.add_argument(
        "--annotate", metavar="FOLDER", help="write copies of the source there, with verdicts as comments"
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="trace the workers of this Dask cluster")
    parser.add_argument("--lazy", action="store_true", help="with -- Rscript: R's lazy vectors (ALTREP)")
    parser.add_argument("--children", action="store_true", help="with --: trace the Pythons it starts too")
    parser.add_argument(
        "--keep", metavar="FOLDER", help="keep a script's last records there; they survive a crash"
    )
    add_options(parser, TRACE, ONLY, DRAW, WRITE)
    parser.add_argument("-m", dest="module", action="store_true", help="run PROGRAM as a module")
    parser.add_argument("program", metavar="PROGRAM", help="a Python file, or a module with -m")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="the program's arguments")


def run(options: argparse.Namespace) -> int:
    """Run the program traced, and draw the trace."""
    from inspector.faces.cli.program import behind_dashes

    if options.lazy:
        return _lazy(options)
    how = _on_workers if options.scheduler else _launched if behind_dashes(options) else _run_here
    modes = ("ring", "sample") if how is _launched else ("ring",)
    if how is not _run_here and (option := only_here(options, modes)):
        raise InspectorError(
            f"{option} works only for a script or a module.",
            slug="bad-option",
            why="workers keep their last records; launched programs keep those or a sample; neither records "
            "native frames; pointers of a launched program are always hooked",
            do="omit the option",
        )
    trace, failure = how(options)
    from inspector.faces.cli.output import show
    from inspector.sessions.trace import part

    if options.out:
        trace.save(options.out)
    report = part(trace, options)
    if options.annotate and (failure is None or report.beside()):
        from inspector.sessions.annotated import annotate

        annotate(report, options.annotate)
    if options.html:
        from inspector.sessions.annotated import sources

        show(report, options, sources(report))
    else:
        show(report, options)
    if os.environ.get("GITHUB_ACTIONS") == "true" and not options.json and "statements" in report.facts:
        from inspector.faces.workflow import annotations

        lines = annotations(report.facts["statements"], report.beside())
        sys.stdout.writelines(f"{line}\n" for line in lines)
    if failure is not None:
        raise failure
    return EXIT_DONE


def _lazy(options: argparse.Namespace) -> int:
    """Run R and draw its lazy vectors."""
    from inspector.faces.cli.output import show
    from inspector.faces.cli.program import how_it_ended
    from inspector.sessions.r.lazy import lazy_vectors

    report, code = lazy_vectors([options.program, *options.arguments], options.json)
    if options.out:
        report.save(options.out)
    show(report, options)
    if (failure := how_it_ended(options.program, code)) is not None:
        raise failure
    return EXIT_DONE


def _run_here(options: argparse.Namespace) -> tuple[Any, InspectorError | None]:
    """Run a script or a module in this process; the trace, and its error or None."""
    from inspector.faces.cli import progress
    from inspector.faces.cli.program import run_within
    from inspector.sessions import trace as sessions

    with progress.traced() as told:
        how = recording(options)
        trace = sessions.trace(*options.modules or (), keep=options.keep, told=told, **how)
        return run_within(trace, options)


def _on_workers(options: argparse.Namespace) -> tuple[Any, InspectorError | None]:
    """The same, tracing the workers of its cluster instead."""
    from inspector.faces import progress_text
    from inspector.faces.cli.program import run_within
    from inspector.faces.cli.progress import Progress
    from inspector.faces.cluster.client import on

    progress = Progress(progress_text.answered)
    cluster = on(options.scheduler, progress)
    events = WORKER_EVENTS if str(options.out or "").endswith(".parquet") else 0
    try:
        return run_within(cluster.trace(*options.modules or (), events=events), options)
    finally:
        progress.clear()
        cluster.client.close()


def _launched(options: argparse.Namespace) -> tuple[Traced, InspectorError | None]:
    """Run a program as a child process; the trace, and its error or None."""
    from inspector.faces.cli import progress
    from inspector.faces.cli.program import how_it_ended
    from inspector.sessions import trace_launched

    command = [options.program, *options.arguments]
    asked = {"grade": options.grade, "mode": options.mode, "every": options.every}
    asked |= {"children": options.children, "quiet": options.json}
    with progress.traced() as told:
        made = trace_launched.launch(command, *options.modules or (), told=told, **asked)
    for note in made.notes:
        sys.stderr.write(f"inspector: {note}\n")
    return made.trace, how_it_ended(options.program, made.code)
