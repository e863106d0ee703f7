"""What a statement did, in one line beside its source: in the margin of a page, or as a comment."""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from inspector.facts.amounts import size
from inspector.facts.statements import Statement, Statements
from inspector.facts.unknown import Unknown
from inspector.views.losses import told
from inspector.views.plain import plain
from inspector.views.statements import STYLES, crossed, did, inside
from inspector.views.theme import css, pair

Sources = Mapping[str, Sequence[str]]
"""File -> its lines."""
_FONT: Final = "font:13px/1.5 ui-monospace,monospace"
_GREY: Final = f"color:{pair('dim')}"
_BAR: Final = "background:linear-gradient(light-dark(#f3d9a4, #5c4413) 0 0) no-repeat"
_PLACE: Final = "padding:0 10px;border:0;vertical-align:top;white-space:pre"
_LONGEST_BAR = 100
"""Per cent of the margin."""


def verdict(row: Statement) -> str:
    """ "copied ×3 8.0 MB"."""
    amount = "" if isinstance(row.bytes, Unknown) or not row.bytes else f" {size(row.bytes)}"
    return f"{did(row)}{amount}"


def reason(row: Statement) -> str:
    """Why, what was lost, what libraries copied on the way, what to write instead; "" if nothing is known."""
    by = f", {row.reason}" if row.reason else ""
    of = f"of {row.of}{by}" if row.verdict in ("view", "same object", "in place") and row.of else ""
    doubt = "" if row.certain else "probably "
    lost = list(map(told, row.losses[:1]))
    parts = [of or (f"{doubt}{row.reason}" if row.reason else doubt.strip()), *lost, *map(inside, row.inside)]
    other = [f"without: {row.instead}"] if row.instead else []
    return "; ".join(plain(part) for part in (*parts, *other) if part)


def by_line(fact: Statements) -> dict[str, dict[int, list[Statement]]]:
    """File -> last line of a statement -> its rows; only those that had to do with bytes."""
    found: dict[str, dict[int, list[Statement]]] = {}
    for row in fact.rows:
        if crossed(row) and not isinstance(row.site.file, Unknown):
            found.setdefault(row.site.file, {}).setdefault(row.last_line, []).append(row)
    return found


def listing(fact: Statements, sources: Sources) -> str:
    """The source of each file with verdicts in the margin, as HTML without a script; "" without source."""
    most = max((row.copied_bytes for row in fact.rows), default=0)
    files = [(file, rows) for file, rows in by_line(fact).items() if sources.get(file)]
    return "".join(_file(file, sources[file], rows, most) for file, rows in files)


def _file(file: str, lines: Sequence[str], rows: Mapping[int, list[Statement]], most: int) -> str:
    body = "".join(_line(at, line, rows.get(at, []), most) for at, line in enumerate(lines, 1))
    return (
        f'<h2 style="font:600 15px system-ui,sans-serif;margin:24px 0 6px">{escape(plain(file))}</h2>'
        f'<div style="overflow-x:auto"><table style="border-collapse:collapse;{_FONT}">{body}</table></div>'
    )


def _line(number: int, line: str, rows: Sequence[Statement], most: int) -> str:
    margin = "<br>".join(_verdict(row) for row in rows)
    why = "<br>".join(escape(reason(row)) for row in rows)
    copied = sum(row.copied_bytes for row in rows)
    wide = round(_LONGEST_BAR * copied / most) if copied and most else 0
    bar = f";{_BAR};background-size:{max(wide, 2)}% 100%" if wide else ""
    return (
        f'<tr id="L{number}"><td style="{_PLACE};text-align:right{bar}">{margin}</td>'
        f'<td style="{_PLACE};text-align:right;user-select:none;{_GREY}">{number}</td>'
        f'<td style="{_PLACE}">{escape(_printable(line))}</td><td style="{_PLACE};{_GREY}">{why}</td></tr>\n'
    )


def _printable(line: str) -> str:
    return plain(line.rstrip("\r\n").expandtabs(4))


def _verdict(row: Statement) -> str:
    colour = css(STYLES.get(row.verdict, "fact"))
    return f'<span style="font-weight:600;{colour}">{escape(verdict(row))}</span>'


def comments(fact: Statements) -> dict[str, dict[int, str]]:
    """File -> last line of a statement -> what it did."""
    return {
        file: {line: " | ".join(map(_whole, found)) for line, found in rows.items()}
        for file, rows in by_line(fact).items()
    }


def _whole(row: Statement) -> str:
    return ": ".join(part for part in (verdict(row), reason(row)) if part)
