"""What an operation of a library copies, in each tested release.

Ask for an operation or a type, or call all public operations of an installed library:

  inspector catalogue pandas.DataFrame.to_numpy
  inspector catalogue np.ndarray
  inspector catalogue numpy
  inspector catalogue                     how many operations of which releases it knows

Each operation of a library is called in forked children, without network and outside your files.
"""

# SPDX-License-Identifier: MIT
import argparse
from pathlib import Path

from inspector.errors import EXIT_DONE
from inspector.faces.arguments import DRAW, WRITE, add_options

GROUP = "inspect objects"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="an operation, a type, or a library")
    parser.add_argument("--page", metavar="FILE", help="write all rules to FILE, an HTML page with a search")
    parser.add_argument(
        "--only", metavar="NAME", default="", help="of a library, call only this operation or type"
    )
    parser.add_argument("--save", metavar="FOLDER", help="write what was found to a file in FOLDER")
    add_options(parser, DRAW, WRITE)


def run(options: argparse.Namespace) -> int:
    """Look it up, or call the library's operations."""
    from inspector.faces.cli.output import show
    from inspector.report import Report
    from inspector.sessions.catalogue.told import asked, called, counted

    if options.page:
        _write_page(options.page)
    if not options.name:
        found = counted()
    elif options.save or options.only or _is_library(options.name):
        from inspector.faces.cli.progress import Progress

        progress = Progress(lambda done, total: f"called {done:,} of {total:,} operations")
        found = called(options.name, options.only, Path(options.save) if options.save else None, progress)
        progress.clear()
    else:
        found = asked(options.name)
    show(Report(options.name or "the catalogue", {"catalogue": found}), options)
    return EXIT_DONE


def _is_library(name: str) -> bool:
    from inspector.sessions.catalogue.kinds import LIBRARIES

    return name in LIBRARIES or "." not in name


def _write_page(path: str) -> None:
    from inspector.errors import unwritable
    from inspector.sessions.catalogue.page import page
    from inspector.sessions.catalogue.stored import every

    try:
        Path(path).write_text(page(every()), encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error) from None
