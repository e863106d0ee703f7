"""Copies of the traced files with each statement's verdict as a comment; the lines of files, for a page."""

# SPDX-License-Identifier: MIT
import ast
import linecache
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from inspector.errors import InspectorError, unwritable
from inspector.objects.quiet_compile import quietly
from inspector.report import Report


def sources(report: Report) -> dict[str, list[str]]:
    """The lines of each file that has statements in the report of a trace, where it can be read."""
    return {file: lines for file in report.beside() if (lines := linecache.getlines(file))}


def annotate(report: Report, folder: str | Path) -> tuple[Path, ...]:
    """Write a copy of each traced file into `folder`, which is made if it is missing; return their paths.

    A copy does the same as its file: only comments were added. Raises InspectorError `unwritable-file`, and
    `no-source` where no statement of a file on disk was traced.
    """
    found = {Path(file): texts for file, texts in report.beside().items() if Path(file).is_file()}
    if not found:
        why = "no line of a file on disk copied, shared or lost anything"
        raise InspectorError("there is nothing to annotate.", slug="no-source", why=why, do="see the report")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        places = zip(found, _named(found), strict=True)
        return tuple(_copied(file, found[file], Path(folder) / name) for file, name in places)
    except OSError as error:
        raise unwritable(str(folder), error) from None


def _named(files: Iterable[Path]) -> Iterator[str]:
    """Names of their own: "app.py", and "app-2.py" for a second one."""
    used = Counter[str]()
    for file in files:
        used[file.name] += 1
        count = used[file.name]
        yield file.name if count == 1 else f"{file.stem}-{count}{file.suffix}"


def _copied(file: Path, texts: Mapping[int, str], to: Path) -> Path:
    if to.resolve() == file.resolve():
        raise unwritable(str(to), OSError("it is the source itself"))
    with file.open("rb") as opened:
        encoding = tokenize.detect_encoding(opened.readline)[0]
    with file.open(encoding=encoding, newline="") as source:
        lines = source.read().splitlines(keepends=True)
    with to.open("w", encoding=encoding, errors="backslashreplace", newline="") as copy:
        copy.write("".join(annotated(lines, texts)))
    return to


def annotated(lines: list[str], texts: Mapping[int, str]) -> list[str]:
    """The lines with comments behind them; a comment that would change the program is left out."""
    made = [_behind(line, texts.get(number, "")) for number, line in enumerate(lines, 1)]
    tree = _tree("".join(lines))
    if _tree("".join(made)) == tree:
        return made
    for at, line in enumerate(lines):  # one of them ends inside a text, or in a backslash
        if made[at] != line and _tree("".join([*lines[:at], made[at], *lines[at + 1 :]])) != tree:
            made[at] = line
    return made


def _behind(line: str, text: str) -> str:
    code = line.rstrip("\r\n")
    return f"{code.rstrip()}  # {text}{line[len(code) :]}" if text else line


def _tree(text: str) -> str:
    try:
        with quietly():
            return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
