"""Write a report to the terminal, a pipe or a file, as the options say."""

# SPDX-License-Identifier: MIT
import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from inspector.errors import unwritable
from inspector.faces.cli.width import columns
from inspector.report import Report


def show(
    report: Report, options: argparse.Namespace, sources: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Print the report as the options DRAW and WRITE say; colours only on a terminal without NO_COLOR.

    `sources`: file -> lines that stand under the card on a page.
    """
    report = report.drawn(
        width=options.width or columns(),
        everything=options.all,
        explain=options.explain,
        verbose=options.verbose,
    )
    written = {
        "svg": report.to_svg,
        "html": lambda: report.to_page(sources),
        "speedscope": report.to_speedscope,
        "perfetto": report.to_perfetto,
    }
    for path, text in ((getattr(options, name, None), draw) for name, draw in written.items()):
        if path:
            _write(path, text())
    if options.json:
        _print(report.to_json() + "\n")
    elif sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        _coloured(report, options.width)
    else:
        _print(report.to_text(sys.stdout.encoding))


def _coloured(report: Report, width: int | None) -> None:
    from rich.console import Console

    Console(highlight=False, soft_wrap=False, width=width).print(report, end="")


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:  # main() ends quietly
        raise
    except OSError as error:
        raise unwritable("the output", error) from None


def _write(path: str, text: str) -> None:
    from pathlib import Path

    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error) from None
