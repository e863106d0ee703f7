"""The resident set of a watched process over time: a strip of bars on a terminal, a line in a page."""

# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from html import escape
from typing import Final

from inspector.facts.growth import Moment
from inspector.views.amounts import size
from inspector.views.boxes_svg import GROUND, LINE, picture
from inspector.views.grammar import Picture, Span
from inspector.views.plain import plain
from inspector.views.theme import css

WIDTH, HEIGHT = 720, 90
RADIUS: Final = 3
_STEPS: Final = "▁▂▃▄▅▆▇█"


def timeline(moments: Sequence[Moment]) -> Picture:
    """From the least to the most that was resident; each moment says itself."""
    low = min(moment.resident_bytes for moment in moments)
    high = max(moment.resident_bytes for moment in moments)
    alt = f"Resident memory over {_time(moments[-1].at_ns)}: {_span(low, high)}"
    strip = "".join(_STEPS[_share(moment, low, high, len(_STEPS) - 1)] for moment in moments)
    ends = f"  {size(moments[0].resident_bytes)} → {size(moments[-1].resident_bytes)}"
    row = (Span("resident ", "label"), Span(strip, "native"), Span(ends), Span(f"  {_over(moments)}", "dim"))
    return Picture((row,), alt, picture(WIDTH, HEIGHT, alt, _body(moments, low, high)))


def _over(moments: Sequence[Moment]) -> str:
    cells = sum(bool(moment.label) for moment in moments)
    return f"{cells:,} cells" if cells else _time(moments[-1].at_ns)


def _span(low: int, high: int) -> str:
    return f"from {size(low)} to {size(high)}" if size(low) != size(high) else size(low)


def _share(moment: Moment, low: int, high: int, most: int) -> int:
    return round((moment.resident_bytes - low) * most / max(high - low, 1))


def _time(ns: int) -> str:
    return f"{ns / 1e9:,.1f} s"


def _body(moments: Sequence[Moment], low: int, high: int) -> str:
    """The line, the area below it, a point a moment, the ends in words. Cells stand at equal distances."""
    by_cell = any(moment.label for moment in moments)
    last = max(len(moments) - 1 if by_cell else moments[-1].at_ns, 1)
    at = [(place if by_cell else moment.at_ns) / last for place, moment in enumerate(moments)]
    points = [
        (4 + x * (WIDTH - 8), HEIGHT - 20 - _share(moment, low, high, HEIGHT - 40))
        for x, moment in zip(at, moments, strict=True)
    ]
    path = " ".join(f"{x:.1f},{y}" for x, y in points)
    base = f"{points[-1][0]:.1f},{HEIGHT - 16} {points[0][0]:.1f},{HEIGHT - 16}"
    stroke = css("native").replace("color:", "stroke:")
    dots = "".join(_dot(*point, moment) for point, moment in zip(points, moments, strict=True))
    return (
        f'<polygon points="{path} {base}" style="fill:{GROUND};stroke:{LINE}"/>'
        f'<polyline points="{path}" style="fill:none;stroke-width:2;{stroke}"/>{dots}'
        f"{_word(4, 'start', size(moments[0].resident_bytes))}"
        f"{_word(WIDTH - 4, 'end', f'{size(moments[-1].resident_bytes)} after {_over(moments)}')}"
    )


def _dot(x: float, y: int, moment: Moment) -> str:
    said = escape(plain(f"{moment.label or _time(moment.at_ns)}: {size(moment.resident_bytes)}"))
    colour = css("native").replace("color:", "fill:")
    circle = f'<circle cx="{x:.1f}" cy="{y}" r="{RADIUS}" style="{colour}"/>'
    return f'<g tabindex="0" role="img" aria-label="{said}"><title>{said}</title>{circle}</g>'


def _word(x: int, anchor: str, said: str) -> str:
    return f'<text x="{x}" y="{HEIGHT - 3}" text-anchor="{anchor}">{escape(said)}</text>'
