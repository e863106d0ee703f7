"""A report: facts of one object, for a terminal, a notebook, a picture or as JSON."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from inspector.errors import InspectorError, unreadable
from inspector.facts.columns import COLUMNS, fact_class
from inspector.facts.unknown import Unknown
from inspector.facts.wire import SCHEMA, from_wire
from inspector.views.answers import IN_HEAD
from inspector.views.card import card
from inspector.views.rows import Drawing

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console, ConsoleOptions, RenderResult

    from inspector.views.grammar import Block
    from inspector.views.memory_stacks import Stacks

MIME: Final = "application/vnd.inspector.report.v1+json"
LARGEST_FILE_BYTES: Final = 256 << 20
_NARROWEST: Final = 10
"""Least width in characters, as in R."""
LARGEST_IN_A_CELL: Final = 90_000
"""Most characters of JSON that a notebook output keeps besides text and HTML; `save` has no such limit."""


class Report:
    """Facts by column, under the name the user knows the object by.

    A column is an attribute: `report.refs`. One that does not apply to the object is Unknown.
    """

    __slots__ = ("_drawing", "facts", "name")

    def __init__(self, name: str, facts: Mapping[str, Any], drawing: Drawing | None = None) -> None:
        self.name = name
        self.facts = dict(facts)
        self._drawing = drawing or Drawing()

    def __getattr__(self, column: str) -> Any:
        if column in COLUMNS:
            return self.facts.get(column, Unknown(f"{column} does not apply or was not asked"))
        raise AttributeError(f"a report has no {column!r}")

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self.facts]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and (self.name, self.facts) == (other.name, other.facts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if "rpycall" in sys.modules:  # R prints a Python object by its repr
            return self.to_text()
        told = getattr(self.facts.get("answers"), "rows", ())
        said = " ".join(row.text for row in told[:IN_HEAD])
        return f"<Report {self.name}: {said or ', '.join(self.facts)}>"

    def __str__(self) -> str:
        return self.to_text()

    def drawn(self, **changes: Any) -> Report:
        """The same facts drawn otherwise: `width` in cells, `everything`, `explain`, `verbose`.

        Raises InspectorError `bad-option` for a width that is no number of cells from 10 on.
        """
        width = changes.get("width", _NARROWEST)
        if not isinstance(width, int) or width < _NARROWEST:
            raise InspectorError(
                f"a width is a number of cells, not {width!s:.40}.",
                slug="bad-option",
                do=f"{_NARROWEST} or more; 80 is a terminal's",
            )
        return Report(self.name, self.facts, replace(self._drawing, **changes))

    @property
    def everything(self) -> bool:
        """Whether drawings leave nothing out (`--all`)."""
        return self._drawing.everything

    @property
    def unanswered(self) -> dict[str, str]:
        """Column -> reason, for the columns that could not be determined at all."""
        return {name: fact.reason for name, fact in self.facts.items() if isinstance(fact, Unknown)}

    def blocks(self) -> tuple[Block, ...]:
        """The blocks that every drawing shows."""
        return card(self.name, self.facts, self._drawing.everything or self._drawing.verbose)

    def to_text(self, encoding: str = "utf-8") -> str:
        """The card as lines of text without colours."""
        from inspector.views.to_text import plain_text

        return plain_text(self.blocks(), self._drawing, encoding)

    def to_html(self) -> str:
        """The card as an HTML fragment: tables and `<details>`, no script."""
        from inspector.views.to_html import MOST_CHARACTERS, MOST_OF_A_CARD, to_html

        most = MOST_OF_A_CARD if "object" in self.facts else MOST_CHARACTERS
        return to_html(self.blocks(), self._drawing, most)

    def to_page(self, sources: Mapping[str, Sequence[str]] | None = None) -> str:
        """The card as a whole HTML page; below it the lines of `sources`, what they did in the margin."""
        from inspector.views.margin import listing
        from inspector.views.to_html import to_page

        below = listing(self.facts["statements"], sources) if sources else ""
        return to_page(self.blocks(), self._drawing, self.name, below)

    def beside(self) -> dict[str, dict[int, str]]:
        """Of a trace: file -> last line of a statement -> what it did, in one line."""
        from inspector.views.margin import comments

        return comments(self.facts["statements"]) if "statements" in self.facts else {}

    def to_svg(self) -> str:
        """The card as one SVG document."""
        from inspector.views.to_svg import to_svg

        return to_svg(self.blocks(), self._drawing, f"inspector: {self.name}")

    def to_speedscope(self) -> str:
        """A report of memory as a file of speedscope.app: its rows and parts, the lines that asked, in bytes.

        Raises InspectorError `bad-option` for another report.
        """
        from inspector.views.to_speedscope import to_speedscope

        return to_speedscope(self.name, self._memory())

    def to_perfetto(self) -> str:
        """A report of memory as a file of ui.perfetto.dev: counters over time, and stacks. Raises so too."""
        from inspector.views.to_perfetto import to_perfetto

        return to_perfetto(self.name, self._memory(), self.facts)

    def _memory(self) -> tuple[Stacks, ...]:
        from inspector.views.memory_stacks import stacks

        if found := stacks(self.facts):
            return found
        raise InspectorError(
            "this report has no stacks of memory.",
            slug="bad-option",
            do="inspector memory, or inspector attach PID memory --lines",
        )

    def to_wire(self) -> dict[str, Any]:
        """The report as plain JSON values (docs/schema/report-2.json)."""
        from inspector.views.to_json import wire_form

        return wire_form(self.name, self.facts)

    def to_json(self) -> str:
        """The report as JSON text (docs/schema/report-2.json)."""
        from inspector.views.to_json import to_json

        return to_json(self.name, self.facts)

    def save(self, path: str | Path) -> None:
        """Write the report as JSON; `load` reads it back, on any machine."""
        from pathlib import Path

        Path(path).write_text(self.to_json() + "\n", encoding="ascii")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from inspector.views.to_text import rich_text

        drawing = replace(self._drawing, width=options.max_width)
        yield from rich_text(self.blocks(), drawing, options.encoding)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        import json

        shown = {"text/plain": self.to_text().rstrip("\n"), "text/html": self.to_html()}
        wire = self.to_wire()
        is_small = self.everything or len(json.dumps(wire)) <= LARGEST_IN_A_CELL
        return shown | {MIME: wire} if is_small else shown


def load(path: str | Path) -> Report:
    """Return the report saved at `path`; needs neither the extension nor the object.

    Raises InspectorError: `bad-report` for any other file, `newer-report` or `older-report` for
    another schema.
    """
    from pathlib import Path

    return from_text(_read(Path(path)), str(path))


def from_text(text: str, source: str) -> Report:
    """The report that `Report.to_json` wrote as `text`; `source` names it in an error."""
    import json

    try:
        wire = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _bad(source, f"it is not JSON: {error}"[:120]) from None
    return from_wire_form(wire, source)


def from_wire_form(wire: Any, source: str) -> Report:
    """The report that `Report.to_wire` returned; `source` names it in an error."""
    if not isinstance(wire, dict) or wire.get("kind") != "report" or type(wire.get("schema")) is not int:
        raise _bad(source, "it has no kind 'report' and no schema number")
    if wire["schema"] != SCHEMA:
        raise _other_schema(source, wire["schema"])
    facts, name = wire.get("facts"), wire.get("name")
    if not isinstance(facts, dict) or not isinstance(name, str):
        raise _bad(source, "its facts or its name are missing")
    try:
        return Report(name, dict(_facts(facts)))
    except InspectorError as error:
        raise _bad(source, error.what) from None


def _other_schema(source: str, schema: int) -> InspectorError:
    """The refusal of a report that a later or an earlier inspector wrote."""
    is_newer = schema > SCHEMA
    return InspectorError(
        f"{source} has schema {schema}; this inspector reads schema {SCHEMA}.",
        slug="newer-report" if is_newer else "older-report",
        why=f"{'a newer' if is_newer else 'an older'} inspector wrote it",
        do="pip install --upgrade native-inspector" if is_newer else "write it again with this inspector",
    )


def _facts(facts: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for column, value in facts.items():
        yield column, from_wire(fact_class(column) | Unknown, value)


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise _bad(str(path), f"it is larger than {LARGEST_FILE_BYTES:,} bytes")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise unreadable(path, error, "give the path of a saved report") from None
    except UnicodeDecodeError:
        raise _bad(str(path), "it is not text") from None


def _bad(source: str, why: str) -> InspectorError:
    return InspectorError(
        f"{source} is not a saved report.",
        slug="bad-report",
        why=why,
        do="write it again with `inspector show --json`",
    )
