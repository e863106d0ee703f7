"""Show one object: what it is, what holds it, where its memory is.

EXPR is any expression. With --script it may use the script's names;
without, modules that it names are imported:

  inspector show 'numpy.arange(6)[::2]'
"""

# SPDX-License-Identifier: MIT
import argparse
import sys
from typing import Any

from inspector.errors import EXIT_DONE
from inspector.faces.arguments import DRAW, LOOK, PREVIEW, WRITE, add_options

GROUP = "inspect objects"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("expression", metavar="EXPR", help="the object to show")
    parser.add_argument("--script", metavar="FILE", help="run this first and use its names")
    add_options(parser, LOOK, PREVIEW, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Draw the card of EXPR, or what would happen to it."""
    if options.to or options.after:
        return _previewed(options)
    from inspector import api
    from inspector.faces.cli.output import show
    from inspector.faces.cli.progress import Progress, walks
    from inspector.faces.cli.target import Target

    target = Target(options.script, quiet=options.json)
    progress = Progress() if options.owners and sys.stderr.isatty() else None
    with walks():
        report = api.inspect(
            target.evaluate(options.expression),
            name=options.expression,
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


def _previewed(options: argparse.Namespace) -> int:
    from inspector.faces.cli.output import show
    from inspector.faces.cli.target import Target
    from inspector.report import Report
    from inspector.sessions import preview

    target = Target(options.script, quiet=options.json)
    x = target.evaluate(options.expression)
    facts: dict[str, Any] = {}
    if options.to:
        facts["previews"] = preview.conversions(x, options.to)
    if options.after:
        facts["prediction"] = preview.after(x, options.after, vars(target.module))
    show(Report(options.expression, facts), options)
    return EXIT_DONE
