"""Workflow commands of GitHub, which show a message at a line of the source.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

# SPDX-License-Identifier: MIT
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from inspector.facts.statements import Statement, Statements

MOST: Final = 10
"""Messages of one level that GitHub shows of a step."""


def command(level: Literal["error", "warning", "notice"], path: str, line: int | None, text: str) -> str:
    """A message at a line of a file, or at the file as a whole."""
    at = "" if line is None else f",line={line}"
    file = _escaped(path).replace(",", "%2C").replace(":", "%3A")
    return f"::{level} file={file}{at},title=inspector::{_escaped(text)}"


def annotations(fact: Statements, texts: Mapping[str, Mapping[int, str]]) -> Iterator[str]:
    """Of a trace, for files of this folder: a warning where values lost what nobody asked to lose, and a
    notice at each line that copied; of each the MOST heaviest.

    `texts`: file -> last line of a statement -> what it did.
    """
    rows = [row for row in fact.rows if _is_here(row)]
    lost = [row for row in rows if any(not one.is_asked_for for one in row.losses)]
    copied = sorted((row for row in rows if row.copied_bytes and row not in lost), key=_weight)
    yield from (_said("warning", row, texts) for row in lost[:MOST])
    yield from (_said("notice", row, texts) for row in copied[:MOST])


def _said(level: Literal["warning", "notice"], row: Statement, texts: Mapping[str, Mapping[int, str]]) -> str:
    line = row.site.line if isinstance(row.site.line, int) else None
    return command(level, os.path.relpath(str(row.site.file)), line, texts[str(row.site.file)][row.last_line])


def _is_here(row: Statement) -> bool:
    path = Path(str(row.site.file)).absolute()
    return path.is_relative_to(Path.cwd()) and path.is_file()


def _weight(row: Statement) -> int:
    return -row.copied_bytes


def _escaped(text: str) -> str:
    for code in "%\r\n":
        text = text.replace(code, f"%{ord(code):02X}")
    return text
