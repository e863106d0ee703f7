"""Draw a report as a magic's options say, and write the files that they name."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
from pathlib import Path

from inspector.errors import InspectorError
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


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InspectorError(
            f"cannot write {path}: {error.strerror}.", slug="unwritable-file", do="give another path"
        ) from None
