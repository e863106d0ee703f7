"""Find references that native code leaked, stole or over-released.

Runs a program as python would:

  inspector leaks script.py ARGS          a script with its arguments
  inspector leaks -m pytest tests/        a module, as python -m runs it
  inspector leaks --of mymodule app.py    only the extension module mymodule
  inspector leaks -- PROGRAM ARGS         a program that is or embeds Python

The program's output comes first; with --json it goes to stderr.
Exit code 1: a certain fault, or a cycle that no collection frees, was found;
2: a module of --of was not watched, not all of it, or never called.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from inspector.errors import EXIT_DONE, EXIT_FINDINGS, InspectorError
from inspector.faces.arguments import DRAW, WRITE, add_options

if TYPE_CHECKING:
    from inspector.facts.leaks import Leaks
    from inspector.facts.lost import LostObject
    from inspector.report import Report

    Ran = tuple[Report, Leaks, InspectorError | None, tuple[LostObject, ...]]
    """The report on a program, its verdicts, its error or None, and what it lost in cycles."""

GROUP = "inspect running programs"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--of", dest="modules", metavar="MODULE", action="append", help="watch this extension module only"
    )
    parser.add_argument("--children", action="store_true", help="with --: watch the Pythons it starts too")
    add_options(parser, DRAW, WRITE)
    parser.add_argument("-m", dest="module", action="store_true", help="run PROGRAM as a module")
    parser.add_argument("program", metavar="PROGRAM", help="a Python file, or a module with -m")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="the program's arguments")


def run(options: argparse.Namespace) -> int:
    """Run the program with its references recorded, and draw the verdicts."""
    from inspector.faces.cli.output import show
    from inspector.faces.cli.program import behind_dashes
    from inspector.sessions.leaks_unwatched import partly, uncalled, unwatched
    from inspector.sessions.lost import with_lost

    report, fact, failure, lost = (_launched if behind_dashes(options) else _run_here)(options)
    show(with_lost(report, lost), options)
    if failure is not None:
        raise failure
    if (unknown := unwatched(fact.watched) or uncalled(fact.watched)) is not None:
        raise unknown
    if any(one.certain for one in (*fact, *lost)):
        return EXIT_FINDINGS
    if (unseen := partly(fact.watched)) is not None:
        raise unseen
    return EXIT_DONE


def _run_here(options: argparse.Namespace) -> Ran:
    """Run a script or a module in this process."""
    from inspector.faces.cli.program import run_within
    from inspector.faces.cli.target import search_first
    from inspector.sessions import leaks
    from inspector.sessions.growth.block import with_program
    from inspector.sessions.lost import lost_since
    from inspector.sessions.memory import memory

    beside = Path.cwd() if options.module else Path(options.program).resolve().parent
    search_first(str(beside))  # the watched module may be there
    found = leaks.leaks(*options.modules or ())
    found.strict = False
    memory()  # what its first use imports is no growth
    before, modules = memory(), frozenset(sys.modules)
    with _no_silent_end(options.program):
        found, failure = run_within(found, options)
        return with_program(found.report, before, modules), found.fact, failure, lost_since()


@contextmanager
def _no_silent_end(program: str) -> Iterator[None]:
    """`os._exit` in this process runs no exit handlers: say that nothing was judged, and end with code 2."""
    leave, own = os._exit, os.getpid()

    def left(status: int) -> NoReturn:
        if os.getpid() != own:
            leave(status)
        error = InspectorError(
            f"{program[:60]} left by os._exit({status}): its ledger is lost.", slug="no-verdicts"
        )
        sys.stderr.write(error.block())
        sys.stderr.flush()
        leave(error.exit_code)

    os._exit = left
    try:
        yield
    finally:
        os._exit = leave


def _launched(options: argparse.Namespace) -> Ran:
    """Run a program as a child process."""
    from inspector.faces.cli.program import how_it_ended
    from inspector.sessions import leaks_launched

    command = [options.program, *options.arguments]
    found = leaks_launched.launch(
        command, *options.modules or (), children=options.children, quiet=options.json
    )
    for note in found.notes:
        sys.stderr.write(f"inspector: {note}\n")
    return found.report, found.fact, how_it_ended(options.program, found.code), found.lost
