"""Draw a report as a magic's options say, and write the files that they name."""

# SPDX-License-Identifier: MIT
import argparse
from pathlib import Path

from inspector.errors import unwritable
from inspector.report import Report


def drawn(report: Report, options: argparse.Namespace) -> Report:
    """The report with the options' width and detail; writes the files of `--svg` and `--html`."""
    made = report.drawn(
        width=options.width,
        everything=options.all or getattr(options, "fields", False),
        explain=options.explain,
        verbose=options.verbose,
    )
    for path, draw in ((options.svg, made.to_svg), (options.html, made.to_page)):
        if path:
            _write(path, draw())
    return made


def printed(report: Report, options: argparse.Namespace) -> Report | None:
    """The report as the options draw it; None with --json, which prints it."""
    made = drawn(report, options)
    if not options.json:
        return made
    print(made.to_json())
    return None


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error) from None
