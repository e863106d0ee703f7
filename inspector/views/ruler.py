"""Draws where the bytes of several objects lie: a bar for each on one ruler of addresses."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.comparison import Strided
from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown
from inspector.views.amounts import known, size
from inspector.views.grammar import Block, Picture, Span
from inspector.views.plain import clipped

LONGEST_NAME = 16
CELLS = 40
"""Characters of a bar: with names, sizes and roles it fits into 600 pixels."""
MOST_MARKS = 4_096
"""Runs of elements that are marked one by one."""
_FULL = 0.99
"""A cell with a smaller part of its bytes seen is drawn half."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One object on the ruler."""

    name: str
    blocks: tuple[Strided, ...]
    shift_bytes: int
    """Added to its addresses: two mappings of one file are drawn as one."""
    bytes: int | Unknown
    role: str
    """"owner", "view" or ""."""


def ruler(bars: tuple[Bar, ...]) -> Iterator[Block]:
    """The bars, the lowest address of all at the left; none where nothing has bytes."""
    ends = [_ends(block, bar.shift_bytes) for bar in bars for block in bar.blocks]
    low, high = min(start for start, _ in ends), max(stop for _, stop in ends)
    if high <= low:
        return
    widest = min(max(len(bar.name) for bar in bars), LONGEST_NAME)
    rows, told = [], []
    for bar in bars:
        cells = marks(bar, low, high)
        told.append(f"{bar.name} {extent(cells)}")
        drawn = "".join("█" if part > _FULL else "▒" if part else " " for part in cells)
        rows.append(
            (
                Span(f"{clipped(bar.name, LONGEST_NAME):{widest}}  ", "name"),
                Span(drawn, "python"),
                Span("  "),
                *known(bar.bytes, "size"),
                Span(f"  {bar.role}" if bar.role else "", "dim"),
            )
        )
    yield Picture(tuple(rows), f"On one ruler of {size(high - low)}: {'; '.join(told)}.")


def extent(cells: list[float]) -> str:
    """Where a bar begins and ends, in words for who does not see it: "from 25 % to 50 %, with gaps"."""
    used = [at for at, part in enumerate(cells) if part]
    if not used:
        return "nowhere"
    gaps = ", with gaps" if min(cells[used[0] : used[-1] + 1]) <= _FULL else ""
    return f"from {100 * used[0] // len(cells)} % to {100 * (used[-1] + 1) // len(cells)} %{gaps}"


def marks(bar: Bar, low: int, high: int, count: int = CELLS) -> list[float]:
    """For each cell of [low, high) the part of its bytes that elements of the object use, 0 to 1."""
    cells = [0.0] * count
    width = (high - low) / count
    for block in bar.blocks:
        axes = sorted(
            (abs(s), n) for n, s in zip(block.shape, block.strides_bytes, strict=True) if n > 1 and s
        )
        start, _ = _ends(block, bar.shift_bytes)
        if 0 not in block.shape:
            for first, stop, part in _runs(start, axes, block.itemsize_bytes, width):
                _mark(cells, (first - low) / width, (stop - low) / width, part)
    return cells


def _runs(
    start: int, axes: list[tuple[int, int]], item: int, width: float
) -> Iterator[tuple[int, int, float]]:
    """(start, stop, density) of runs without a wide gap; `axes` as (step, count), the smallest first."""
    reach, used, inner = item, item, 0
    for step, count in axes:
        if step - reach > width / 2:
            break
        used = min(used * count, reach + (count - 1) * step)
        reach += (count - 1) * step
        inner += 1
    outer = axes[inner:]
    total = 1
    for _, count in outer:
        total *= count
    for number in range(min(total, MOST_MARKS)):
        at, rest = start, number
        for step, count in outer:
            rest, index = divmod(rest, count)
            at += index * step
        yield at, at + reach, min(used / reach, 1.0) if reach else 0.0


def _mark(cells: list[float], first: float, stop: float, part: float) -> None:
    for cell in range(int(first), min(int(-(-stop // 1)), len(cells))):
        inside = min(stop, cell + 1) - max(first, cell)
        cells[cell] = min(cells[cell] + part * max(inside, 0.0), 1.0)


def _ends(block: Strided, shift: int) -> tuple[int, int]:
    """First byte and the end of all bytes that elements can occupy."""
    reach = [(n - 1) * s for n, s in zip(block.shape, block.strides_bytes, strict=True)]
    if 0 in block.shape:
        return block.address + shift, block.address + shift
    low = block.address + shift + sum(min(0, one) for one in reach)
    return low, block.address + shift + sum(max(0, one) for one in reach) + block.itemsize_bytes
