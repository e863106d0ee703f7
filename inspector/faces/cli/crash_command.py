"""Show why a process died: the stacks of a core file, its last calls.

inspector crash core.4711           a core file
inspector crash FOLDER              records of `inspector trace --keep FOLDER`
inspector crash core.4711 FOLDER    both, of the same crash
"""

# SPDX-License-Identifier: MIT
import argparse

from inspector.errors import EXIT_DONE
from inspector.faces.arguments import DRAW, WRITE, add_options

GROUP = "inspect running programs"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "paths", nargs="+", metavar="CORE|FOLDER", help="a core file, or the folder of a kept trace"
    )
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Read, draw."""
    from inspector.faces.cli.output import show
    from inspector.sessions import running

    show(running.crashed(*options.paths), options)
    return EXIT_DONE
