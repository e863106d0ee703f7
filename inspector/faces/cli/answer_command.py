"""Say in sentences what an object is, who holds it and what it keeps.

For scripts and assistants:

  inspector answer 'numpy.eye(4)[::2]'
  inspector answer data --script app.py
  inspector answer a b --script app.py     how two objects are related
  inspector answer data --script app.py --json
"""

# SPDX-License-Identifier: MIT
import argparse
import sys
from typing import Any

from inspector.errors import EXIT_DONE
from inspector.faces.arguments import LOOK, add_options
from inspector.facts.answers import Answers

GROUP = "inspect objects"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("expressions", metavar="EXPR", nargs="+", help="the object, or several")
    parser.add_argument("--script", metavar="FILE", help="run this first and use its names")
    parser.add_argument("--json", action="store_true", help="print the answers as JSON, with their evidence")
    add_options(parser, tuple(option for option in LOOK if option.flags[0] == "--owners"))


def run(options: argparse.Namespace) -> int:
    """Print each answer on a line, with what to do under it."""
    from inspector.faces.cli.target import Target

    target = Target(options.script, quiet=options.json)
    found = _told(target, options.expressions, options.owners)
    if options.json:
        from inspector.report import Report

        sys.stdout.write(Report(" ".join(options.expressions), {"answers": found}).to_json() + "\n")
        return EXIT_DONE
    for row in found.rows:
        sure = "" if row.certain else "not certain: "
        sys.stdout.write(f"{sure}{row.text}\n" + (f"  do  {row.do}\n" if row.do else ""))
    if not found.rows:
        sys.stdout.write(f"No sentence is known for it; its card: inspector show {options.expressions[0]}\n")
    return EXIT_DONE


def _told(target: Any, texts: list[str], owners: bool) -> Answers:
    """The answers about one object, or about several beside each other."""
    from inspector import api
    from inspector.faces.cli.progress import walks

    if len(texts) > 1:
        values = [target.evaluate(text) for text in texts]
        return Answers(api.compare(*values, names=tuple(texts), known=target.known).answers)
    with walks():
        report = api.inspect(
            target.evaluate(texts[0]),
            name=texts[0],
            names=target.names,
            known=target.known,
            scan=owners,
        )
    told = report.answers
    return told if isinstance(told, Answers) else Answers(())
