"""Draws the part of a larger block that a view shows, as a bar to scale."""

# SPDX-License-Identifier: MIT
from itertools import groupby
from math import ceil

from inspector.facts.buffer import Buffer
from inspector.facts.comparison import Strided
from inspector.facts.layout import Layout
from inspector.facts.memory import Range
from inspector.facts.unknown import Address, Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Picture, Span
from inspector.views.ruler import Bar, extent, marks

CELLS = 60
LEAST_BYTES = 1_000
"""A smaller block is not worth a picture."""
SIGNS = "·░▒▓█"
"""A cell of which the view shows nothing, up to a quarter, a half, three quarters, and more."""


def shown_part(buffer: Buffer, layout: Layout | None) -> Picture | None:
    """A row of CELLS, darker where more of the bytes are the view's; None if it shows its whole block."""
    owning = [holder for holder in buffer.holders if holder.owns is True]
    shown, inside = buffer.logical_bytes, buffer.range
    if layout is None or len(owning) != 1 or isinstance(inside, Unknown) or isinstance(shown, Unknown):
        return None
    base = owning[0].range
    if isinstance(base, Unknown) or not layout.shape or layout.itemsize_bytes == 0:
        return None
    if not _is_inside(inside, base) or shown == base.bytes or shown > inside.bytes:
        return None
    below = sum(min(0, (n - 1) * step) for n, step in zip(layout.shape, layout.strides_bytes, strict=True))
    start = Address(inside.start - below)
    whole = Strided(start, layout.shape, layout.strides_bytes, layout.itemsize_bytes, "", ())
    parts = marks(Bar("", (whole,), 0, shown, "view"), base.start, base.stop, CELLS)
    cells = [SIGNS[ceil(min(part, 1.0) * 4)] for part in parts]
    runs = ((sign, "".join(same)) for sign, same in groupby(cells))
    spans = tuple(Span(run, "dim" if sign == SIGNS[0] else "python") for sign, run in runs)
    return Picture((spans,), f"What it shows of the {size(base.bytes)} of its base: {extent(parts)}.")


def _is_inside(part: Range, base: Range) -> bool:
    """Whether the base is large enough for a picture and has the part whole."""
    return base.bytes >= LEAST_BYTES and base.start <= part.start and part.stop <= base.stop
