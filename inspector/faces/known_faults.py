"""Certain faults of the tests of an extension: as rows for reports, and the file of those that are known."""

# SPDX-License-Identifier: MIT
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from inspector.faces.workflow import command
from inspector.facts.amounts import counted
from inspector.facts.leaks import Touch, Verdict

HEAD: Final = "# Known faults of native code, by pytest --inspect-leaks. Behind each #: why it stays."


class Row(NamedTuple):
    """A certain fault as a test saw it: words and numbers that look the same on every machine."""

    kind: str
    function: str
    """The native function that Python called; "" if unknown."""
    object: str
    """The object's type, without its value."""
    by: str
    """The C-API function that made or took the reference; "" if unknown."""
    source: str
    """"heldmod.c:14"; "" if unknown."""
    path: str
    cure: str
    test: str

    @property
    def line(self) -> str:
        """What names it in the file: without the line of C, which every change moves."""
        return " | ".join((self.kind, self.function or "?", self.object or "?", self.by or "?"))


def row_of(one: Verdict, test: str) -> Row:
    """The row of a verdict."""
    made = one.conversion if isinstance(one.conversion, Touch) else None
    source = made.source if made and isinstance(made.source, str) else ""
    by, path = (made.function, made.path) if made else ("", "")
    return Row(one.kind, one.method, one.object_type, by, source, path, one.cure, test)


def known_in(file: Path) -> dict[str, str]:
    """Line -> its reason. Raises OSError, UnicodeDecodeError."""
    rows = (text.partition("#") for text in file.read_text(encoding="utf-8").splitlines())
    return {line.strip(): reason.strip() for line, _, reason in rows if line.strip()}


def written(rows: Sequence[Row]) -> str:
    """The file's text, in an order that no run changes."""
    lines = sorted({row.line for row in rows})
    return "\n".join((HEAD, *(f"{line}  # no reason yet" for line in lines), ""))


def new_of(rows: Sequence[Row], known: Mapping[str, str] | None) -> list[Row]:
    """The rows that the file does not list; none if the file is written now."""
    return [row for row in rows if known is not None and row.line not in known]


def compared(rows: Sequence[Row], known: Mapping[str, str] | None, file: str) -> Iterator[str]:
    """How the session differs from the file, as lines to put into it or to take out."""
    seen = {row.line for row in rows}
    if known is None:
        yield f"{file}: {counted(len(seen), 'known fault')} written"
        return
    gone = sorted({*known} - seen)
    yield from (f"not in {file}: {line}" for line in sorted(seen - {*known}))
    yield f"{file}: {counted(len(known) - len(gone), 'known fault')} seen, {len(gone)} not seen"
    yield from (f"not seen: {line}" for line in gone)


def title(rows: Sequence[Row]) -> str:
    """The title over the table."""
    return f"faults of native code in {counted(len({row.test for row in rows}), 'test')}"


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Three lines a fault: what and where, in which tests, the cure."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.line].append(row)
    for _, some in sorted(groups.items()):
        first, more = some[0], len({row.test for row in some}) - 1
        parts = (first.function or "native code", first.object, first.by, first.source)
        yield f"{first.kind}: {', '.join(filter(None, parts))}"
        yield f"    {first.test}" + (f" and {more} more" if more else "")
        yield f"    {first.cure}"


def annotations(rows: Sequence[Row]) -> Iterator[str]:
    """Workflow commands of GitHub: an error at each line of C of this folder, or else at the test."""
    for row in {row.line: row for row in reversed(rows)}.values():
        number = row.source.partition(" ")[0].rpartition(":")[2]
        is_here = number.isdigit() and Path(row.path).is_relative_to(Path.cwd())
        path = os.path.relpath(row.path) if is_here else row.test.partition("::")[0]
        text = f"{row.kind}: {', '.join(filter(None, row[1:4]))} ({row.test}): {row.cure}"
        yield command("error", path, int(number) if is_here else None, text)
