"""The statements of a trace by file and line."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping

from inspector.facts.statements import Statement, Statements


class Lines(Mapping[tuple[str, int], Statement]):
    """`lines["app.py", 12]`: the statement at a line, by the file's name or the end of its path."""

    def __init__(self, found: Statements) -> None:
        self._rows = {(str(row.site.file), _line(row)): row for row in reversed(found.rows)}

    def __getitem__(self, key: tuple[str, int]) -> Statement:
        name, line = key
        for (file, first), row in self._rows.items():
            if first <= line <= row.last_line and (file == name or file.endswith(f"/{name}")):
                return row
        raise KeyError(key)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _line(row: Statement) -> int:
    assert isinstance(row.site.line, int)
    return row.site.line
