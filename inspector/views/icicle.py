"""An account of memory as an icicle: the process, below it the rows, below each row its parts; all to scale.

Two accounts, before and after, stand under each other on one scale. Each piece can be reached by the keyboard
and says itself in full, since a narrow one has no room for its name.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

from inspector.facts.account import KINDS, Account
from inspector.views.amounts import signed_size, size
from inspector.views.boxes_svg import CELL, GROUND, LINE, PAD, ROW, picture
from inspector.views.grammar import Picture, Span
from inspector.views.plain import cells, clipped, plain
from inspector.views.theme import css

WIDTH: Final = 720
LEAST_WIDTH: Final = 1.0
"""Pixels: a narrower piece is left out; the table below has it."""
LEAST_CHARACTERS: Final = 3
NEWS: Final = 0.02
"""Of the whole, and of a piece: one that grew by less is not marked."""
GAP: Final = 8
WHEN: Final = ("before", "after")
BAR: Final = 40
"""Characters of the longest bar on a terminal."""
NAME: Final = max(map(len, KINDS.values()))
MOST_ROWS: Final = 3


class Piece(NamedTuple):
    """A rectangle of the picture."""

    name: str
    resident_bytes: int
    more: int
    """Bytes more than before; 0 where nothing is compared."""
    x: float
    depth: int


def icicle(accounts: Sequence[Account]) -> Picture:
    """The picture of one account, or of two of one process, the earlier first."""
    scale = (WIDTH - 2) / max(1, *(account.resident_bytes for account in accounts))
    body, top = "", 1.0
    for place, account in enumerate(accounts):
        earlier = accounts[place - 1] if place else None
        when = f"{WHEN[place]}: " if len(accounts) > 1 else ""
        pieces = list(_pieces(account, earlier, when))
        body += "".join(_drawn(piece, scale, top, account.resident_bytes * NEWS) for piece in pieces)
        top += 3 * ROW + GAP
    alt = _alt(accounts)
    return Picture(_rows(accounts), alt, picture(WIDTH, top, alt, body))


def _pieces(account: Account, earlier: Account | None, when: str) -> Iterator[Piece]:
    change = account.resident_bytes - earlier.resident_bytes if earlier else 0
    who = "this process" if account.is_self else f"process {account.pid}"
    yield Piece(f"{when}{who}", account.resident_bytes, change, 0, 0)
    x = 0
    for kind in KINDS:
        row = account.row(kind)
        old = earlier.row(kind) if earlier else row
        before = {part.name: part.resident_bytes for part in old.parts}
        yield Piece(KINDS[kind], row.resident_bytes, row.resident_bytes - old.resident_bytes, x, 1)
        at = x
        for part in row.parts:
            more = part.resident_bytes - before.get(part.name, 0)
            yield Piece(f"{KINDS[kind]}: {part.name}", part.resident_bytes, more, at, 2)
            at += part.resident_bytes
        x += row.resident_bytes


def _drawn(piece: Piece, scale: float, top: float, news: float) -> str:
    """A rectangle with its name, if that fits; its title says it in full."""
    width = piece.resident_bytes * scale
    if width < LEAST_WIDTH:
        return ""
    x, y = 1 + piece.x * scale, top + piece.depth * ROW
    grew = piece.more > max(news, piece.resident_bytes * NEWS)
    stroke = css("warn").replace("color:", "stroke:") if grew else f"stroke:{LINE}"
    frame = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{ROW}"'
    return (
        f'<g tabindex="0" role="img" aria-label="{escape(plain(_said(piece)))}">'
        f"<title>{escape(plain(_said(piece)))}</title>"
        f'<rect {frame} style="fill:{GROUND};{stroke};stroke-width:{2 if grew else 1}"/>'
        f"{_name(piece, x, y, width)}</g>"
    )


def _said(piece: Piece) -> str:
    more = f" ({signed_size(piece.more)})" if piece.more else ""
    return f"{piece.name}, {size(piece.resident_bytes)}{more}"


def _name(piece: Piece, x: float, y: float, width: float) -> str:
    room = int((width - PAD) / CELL)
    short = _said(piece).partition(": ")[2] if piece.depth == 2 else _said(piece)
    if room < LEAST_CHARACTERS:
        return ""
    words = clipped(short, room)
    return (
        f'<text x="{x + PAD / 2:.1f}" y="{y + 13.5:.1f}" textLength="{cells(words) * CELL:.1f}" '
        'style="font-family:var(--jp-code-font-family, ui-monospace, monospace);white-space:pre">'
        f"{escape(plain(words))}</text>"
    )


def _alt(accounts: Sequence[Account]) -> str:
    totals = [size(account.resident_bytes) for account in accounts]
    return f"The memory of the process to scale: {' before, after '.join(totals)}"


def _rows(accounts: Sequence[Account]) -> tuple[tuple[Span, ...], ...]:
    """On a terminal, of two accounts: a bar a row, what it held before and what it holds more."""
    if len(accounts) < 2:
        return ()  # the table of one account has bars
    before, after = accounts
    rows = [(KINDS[row.kind], before.row(row.kind).resident_bytes, row.resident_bytes) for row in after.rows]
    rows = sorted(rows, key=lambda row: row[1] - row[2])[:MOST_ROWS]
    widest = max((max(old, new) for _, old, new in rows), default=1) or 1
    return tuple(_bar(*row, widest) for row in rows)


def _bar(name: str, old: int, new: int, widest: int) -> tuple[Span, ...]:
    both, longer = (round(amount * BAR / widest) for amount in (min(old, new), max(old, new)))
    more = ("▓" if new > old else "░") * (longer - both)
    words = f" {size(old)} → {size(new)}" if size(old) != size(new) else f" {size(new)}"
    return (
        Span(f"{name:<{NAME}} ", "name"),
        Span("█" * both, "dim"),
        Span(more, "warn" if new > old else "good"),
        Span(words),
    )
