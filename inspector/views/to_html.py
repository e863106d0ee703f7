"""Blocks as HTML: real tables and `<details>`, no script; colours follow JupyterLab or the system."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from itertools import takewhile
from typing import Final

from inspector.views.grammar import Block, Fold, Line, Picture, Prose, Span, Table, text
from inspector.views.plain import plain
from inspector.views.rows import LONGEST_LABEL, Drawing, first, leaves, shown
from inspector.views.theme import BOLD, css

_CARD = (
    "overflow-x:auto;color:var(--jp-content-font-color1, var(--vscode-editor-foreground, inherit));"
    "font-family:var(--jp-code-font-family, ui-monospace, monospace);font-size:var(--jp-code-font-size, 13px)"
    ";padding:var(--jp-code-padding, 0) 0 0 var(--jp-code-padding, 0)"
)
"""Padded as Jupyter pads text outputs, so that the first row is level with the prompt. Whether it is light or
dark is the page's word: of an output alone the system's setting tells nothing."""
_TABLE = "border-collapse:collapse;margin:0"
_PLACE = "text-align:left;vertical-align:top;border:0;padding:1px 12px 1px 0"
_CELL = f"{_PLACE};white-space:pre-wrap;overflow-wrap:anywhere"
_LABEL = f"{_CELL};overflow-wrap:normal;font-weight:normal;{css('label')}"
_PROSE = (
    f"{_PLACE};white-space:normal;line-height:1.5;max-width:44em"
    ";font-family:var(--jp-content-font-family, system-ui, sans-serif)"
    ";font-size:var(--jp-content-font-size1, 14px)"
)
"""Sentences have the font of the interface; code in them has that of code."""
_CODE = (
    "font-family:var(--jp-code-font-family, ui-monospace, monospace);font-size:.95em;padding:0 3px"
    ";border-radius:3px;background:var(--jp-layout-color2, rgba(127,127,127,.15));color:inherit"
)
_GRID = f"{_PLACE};white-space:pre"
_WORDS = _LABEL.replace("pre-wrap", "pre")
"""A short label of several words (a size, a hit's number) is not wrapped."""
_LONGEST_WHOLE = 28
"""A table cell of up to this many characters is not wrapped; longer cells wrap, so that the card fits."""
_NAME = f"{_CELL};{css('name')}"
_RIGHT = "text-align:right;vertical-align:top;border:0;padding:1px 0 1px 12px;white-space:nowrap"
_ASIDE = "float:right;margin:0 -12px 0 24px"
_LONGEST_NOTE = 28
"""A note of up to this many characters has its own column; a longer one follows its value."""
_LEFT = 'scope="row" align="left" valign="top"'
"""A label's alignment, in attributes that remain if styles are stripped."""
_TR = '<tr style="background:transparent">'
_PRE = "margin:2px 0;line-height:1.15;border:0;padding:0;background:transparent;color:inherit;font:inherit"


MOST_CHARACTERS: Final = 90_000
"""Most characters of a report, because a notebook file stores it; `--all` lifts the limit."""
MOST_OF_A_CARD: Final = 39_000
"""Of the card of one object, which with its frame has at most 40 kB."""
_ROOMS: Final = (200, 50, 12, 6, 3)
_ROOMS_OF_A_CARD: Final = (50, 10, 5, 3)
"""Rows per fold, tried in order until there are few enough characters."""


def to_html(blocks: Sequence[Block], drawing: Drawing, most: int = MOST_CHARACTERS) -> str:
    """A fragment for a notebook or a page, readable without its styles. All text is escaped.

    A long report shows only the first rows of its folds and counts the rest, unless `--all` is set. `most`:
    characters.
    """
    rooms = _ROOMS_OF_A_CARD if most == MOST_OF_A_CARD else _ROOMS
    for room in (0,) if drawing.everything else rooms:
        rows = _rows_table(blocks, replace(drawing, most=room))
        if len(rows) <= most:
            break
    return _card(rows, blocks)


def _card(rows: str, blocks: Sequence[Block]) -> str:
    """The frame, with what the card is about for a screen reader."""
    about = next((block.label for block in blocks if isinstance(block, Line) and block.heading), "")
    label = f"inspector: {about}" if about else "inspector"
    return f'<div class="inspector" role="group" aria-label="{_text(label)}" style="{_CARD}">{rows}</div>'


def to_page(blocks: Sequence[Block], drawing: Drawing, title: str, below: str = "") -> str:
    """A whole page around the fragment, for `--html FILE`; `below`: more HTML."""
    card = _card(_rows_table(blocks, drawing), blocks)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{_text(title)}</title></head>\n<body>{card}{below}</body></html>\n"
    )


def _rows_table(blocks: Iterable[Block], drawing: Drawing) -> str:
    """Sentences at the beginning stand before the table: they would widen its first column."""
    inside = shown(blocks, drawing)
    said = [block.spans for block in takewhile(_is_prose, inside) if isinstance(block, Prose)]
    lead = "".join(f'<div style="{_PROSE}">{_prose(spans)}</div>' for spans in said)
    body = "".join(_block(block, drawing) for block in inside[len(said) :])
    return f'{lead}<table style="{_TABLE}">{body}</table>' if body or not lead else lead


def _is_prose(block: Block) -> bool:
    return isinstance(block, Prose)


def _block(block: Block, drawing: Drawing) -> str:
    if isinstance(block, Line):
        return _line(block, drawing)
    if isinstance(block, Prose):
        return f'{_TR}<td colspan="3" style="{_PROSE}">{_prose(block.spans)}</td></tr>'
    if isinstance(block, Picture):
        return f'{_TR}<td style="{_CELL}"></td><td colspan="2" style="{_CELL}">{_picture(block)}</td></tr>'
    if isinstance(block, Table):
        return f'{_TR}<td colspan="3" style="{_CELL}">{_table(block)}</td></tr>'
    return _fold(block, drawing)


def _line(line: Line, drawing: Drawing, inner: str = "") -> str:
    """A row: label, value and evidence (or `inner`, with both), note. A long name gets its own row."""
    label, above = line.label, ""
    if line.heading and len(label) > LONGEST_LABEL:
        above = f'{_TR}<th {_LEFT} colspan="3" style="{_NAME}">{_text(label)}</th></tr>'
        label = ""
    noted = line.right and not _is_long(line.right)
    right = f'<td align="right" style="{_RIGHT}">{_spans(line.right)}</td>' if noted else ""
    span = "" if noted else ' colspan="2"'
    said = _explained(line) if drawing.explain else ""
    style = _NAME if line.heading else _WORDS if " " in label and len(label) <= LONGEST_LABEL else _LABEL
    return (
        f'{above}{_TR}<th {_LEFT} style="{style}">{_text(label)}</th>'
        f'<td{span} style="{_CELL}">{inner or _value(line)}{said}</td>{right}</tr>'
    )


def _value(line: Line, beside: bool = False) -> str:
    """Value and evidence; a note that is too long for a column, or is to stand `beside`, follows them."""
    follows = line.right and (beside or _is_long(line.right))
    aside = f'\u00a0 <span style="{_ASIDE}">{_spans(line.right)}</span>' if follows else ""
    return f"{_spans(line.spans)}{aside}"


def _is_long(note: Sequence[Span]) -> bool:
    return sum(len(span.text) for span in note) > _LONGEST_NOTE


def _explained(line: Line) -> str:
    if not line.explain:
        return ""
    link = f" ({_text(line.link)})" if line.link else ""
    return f'<br><small style="{css("dim")}">{_text(line.explain)}{link}</small>'


def _fold(fold: Fold, drawing: Drawing) -> str:
    """A row with the summary; the blocks open under it."""
    inside = shown(fold.blocks, drawing)
    if not inside:
        return _line(fold.summary, drawing)
    opened = " open" if leaves(inside) <= fold.shown or drawing.everything else ""
    left_out = max(leaves(inside) - drawing.most, 0) if drawing.most else 0
    if left_out + fold.unlisted:
        more = f" ({fold.more})" if left_out else ""
        said = text(f"… {left_out + fold.unlisted:,} more{more}", "dim")
        inside = (*(first(inside, drawing.most) if left_out else inside), Line("", said))
    beside = bool(opened)  # a wide table would move the note out of sight
    summary = f"<summary>{_value(fold.summary, beside)}</summary>"
    details = f"<details{opened}>{summary}{_rows_table(inside, drawing)}</details>"
    return _line(replace(fold.summary, right=()) if beside else fold.summary, drawing, details)


def _picture(picture: Picture) -> str:
    if picture.svg:
        return picture.svg
    drawn = "\n".join("".join(_span(span) for span in row) for row in picture.rows)
    return f'<pre role="img" aria-label="{_text(picture.alt)}" style="{_PRE}">{drawn}</pre>'


def _table(table: Table) -> str:
    heads = "".join(
        f'<th scope="col" align="left" style="{_LABEL}">{_text(name)}</th>' for name in table.columns
    )
    head = f"<thead><tr>{heads}</tr></thead>" if any(table.columns) else ""
    body = "".join(f"{_TR}{_cells(table, row)}</tr>" for row in table.rows)
    said = "<br>".join(_text(sentence) for sentence in table.caption.splitlines())
    caption = f'<small style="{css("dim")}">{said}</small>' if said else ""
    return f'<table style="{_TABLE}">{head}<tbody>{body}</tbody></table>{caption}'


def _cells(table: Table, row: Sequence[Sequence[Span]]) -> str:
    return "".join(
        f"<td{_side(table, column)}{_over(table, row, column)} "
        f'style="{_grid(cell, column in table.right_aligned)}">{_spans(cell)}</td>'
        for column, cell in enumerate(row)
    )


def _over(table: Table, row: Sequence[Sequence[Span]], column: int) -> str:
    """The last cell of a shorter row goes on to the right edge."""
    left = len(table.columns) - len(row)
    return f' colspan="{left + 1}"' if left > 0 and column == len(row) - 1 else ""


def _side(table: Table, column: int) -> str:
    """A number's alignment, in an attribute that remains if styles are stripped."""
    return ' align="right"' if column in table.right_aligned else ""


def _grid(cell: Sequence[Span], right: bool) -> str:
    style = _GRID if sum(len(span.text) for span in cell) <= _LONGEST_WHOLE else _CELL
    return f"{style};text-align:right" if right else style


def _spans(spans: Iterable[Span]) -> str:
    """Text that keeps the gap before its evidence if styles are stripped, as on GitHub."""
    return "".join(_span(span) for span in spans).replace("  ", "\u00a0 ")


def _prose(spans: Iterable[Span]) -> str:
    """Sentences: code in them stands out by its font and its ground."""
    return "".join(
        f'<code style="{_CODE}">{_text(span.text)}</code>' if span.style == "code" else _span(span)
        for span in spans
    )


def _span(span: Span) -> str:
    style = css(span.style)
    tag = "strong" if span.style in BOLD else "span"
    return f'<{tag} style="{style}">{_text(span.text)}</{tag}>' if style else _text(span.text)


def _text(text: str) -> str:
    return escape(plain(text))
