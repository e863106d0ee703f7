"""Show one object: what it is, what holds it, where its memory is.

Several EXPR are put side by side: who is a view of whom, what they share.
EXPR is any expression. With --script it may use the script's names;
without, modules that it names are imported:

  inspector show 'numpy.arange(6)[::2]'
"""

# SPDX-License-Identifier: MIT
import argparse
import sys
from typing import Any

from inspector.errors import EXIT_DONE, InspectorError
from inspector.faces.arguments import COMPARED, DRAW, LOOK, PREVIEW, WRITE, add_options

GROUP = "inspect objects"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("expressions", metavar="EXPR", nargs="+", help="the object to show, or several")
    parser.add_argument("--script", metavar="FILE", help="run this first and use its names")
    add_options(parser, LOOK, COMPARED, PREVIEW, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Draw the card of EXPR, or what would happen to it."""
    if len(options.expressions) > 1:
        _refuse_for_several(options)
        return _beside(options)
    if options.to or options.after:
        return _previewed(options)
    from inspector import api
    from inspector.faces.cli.output import show
    from inspector.faces.cli.progress import Progress, walks
    from inspector.faces.cli.target import Target

    (expression,) = options.expressions
    target = Target(options.script, quiet=options.json)
    progress = Progress() if options.owners and sys.stderr.isatty() else None
    with walks():
        report = api.inspect(
            target.evaluate(expression),
            name=expression,
            names=target.names,
            known=target.known,
            scan=options.owners,
            ask=options.ask,
            also=tuple(column for column in ("chain", "retained", "aliases") if getattr(options, column)),
            reveal=options.reveal,
            progress=progress,
        )
    if progress is not None:
        progress.clear()
    show(report, options)
    return EXIT_DONE


def _refuse_for_several(options: argparse.Namespace) -> None:
    """Raise InspectorError where an option about one object would have no effect."""
    flags = [option.flags[0] for option in (*LOOK, *PREVIEW)]
    if given := [flag for flag in flags if getattr(options, flag.removeprefix("--"))]:
        raise InspectorError(
            f"{given[0]} works on one object, not on objects side by side.",
            slug="misplaced-option",
            why="it would have no effect",
            do=f"inspector show {options.expressions[0]:.40} {given[0]}",
        )


def _beside(options: argparse.Namespace) -> int:
    """Draw several objects side by side: who shares with whom, what differs."""
    from inspector import api
    from inspector.faces.cli.output import show
    from inspector.faces.cli.target import Target
    from inspector.report import Report

    target, texts = Target(options.script, quiet=options.json), tuple(options.expressions)
    found = api.compare(*map(target.evaluate, texts), names=texts, known=target.known)
    options.all = options.all or options.fields
    show(Report(" ".join(texts), {"comparison": found}), options)
    return EXIT_DONE


def _previewed(options: argparse.Namespace) -> int:
    from inspector.faces.cli.output import show
    from inspector.faces.cli.target import Target
    from inspector.report import Report
    from inspector.sessions import preview
    from inspector.sessions.catalogue.cited import conversions

    target = Target(options.script, quiet=options.json)
    (expression,) = options.expressions
    x = target.evaluate(expression)
    facts: dict[str, Any] = {}
    if options.to:
        facts["previews"] = conversions(x, options.to)
    if options.after:
        facts["prediction"] = preview.after(x, options.after, vars(target.module))
    show(Report(expression, facts), options)
    return EXIT_DONE
