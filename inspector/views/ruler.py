"""Draws the part of a larger block that a view shows, as a bar to scale."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from inspector.facts.buffer import Buffer
from inspector.facts.layout import Layout
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Picture, Span

CELLS = 60
LEAST_BYTES = 1_000
"""A smaller block is not worth a picture."""
SIGNS = "·░▒▓█"
"""A cell of which the view shows nothing, up to a quarter, a half, three quarters, and more."""


def ruler(buffer: Buffer, layout: Layout | None) -> Picture | None:
    """A row of CELLS, darker where more of the bytes are the view's; None if it shows its whole block."""
    owning = [holder for holder in buffer.holders if holder.owns is True]
    shown = buffer.logical_bytes
    if layout is None or len(owning) != 1 or isinstance(buffer.range, Unknown) or isinstance(shown, Unknown):
        return None
    base = owning[0].range
    if isinstance(base, Unknown) or not base.bytes or not layout.shape or layout.itemsize_bytes == 0:
        return None
    if base.start > buffer.range.start or base.stop < buffer.range.stop or base.bytes < LEAST_BYTES:
        return None
    if shown == base.bytes or shown > buffer.range.bytes:
        return None
    density = shown / max(buffer.range.bytes, 1)
    cells = _cells(buffer.range.start - base.start, buffer.range.bytes, base.bytes, _outer(layout), density)
    runs: list[Span] = []
    for share in cells:
        sign = SIGNS[-(-max(min(int(share * 100), 100), 1) // 25)] if share else SIGNS[0]
        if runs and runs[-1].text[-1] == sign:
            runs[-1] = Span(runs[-1].text + sign, runs[-1].style)
        else:
            runs.append(Span(sign, "dim" if sign == SIGNS[0] else "python"))
    return Picture((tuple(runs),), "the part of its base that it shows")


def _outer(layout: Layout) -> tuple[int, int]:
    """(stride, length of a run) of the axis with the longest steps; (0, 0) if the bytes are one run."""
    steps = zip(layout.shape, layout.strides_bytes, strict=True)
    axes = sorted((abs(stride), n) for n, stride in steps if n > 1 and stride)
    if not axes:
        return 0, 0
    run = layout.itemsize_bytes + sum(stride * (n - 1) for stride, n in axes[:-1])
    return (axes[-1][0], run) if run < axes[-1][0] else (0, 0)


def _cells(offset: int, extent: int, whole: int, outer: tuple[int, int], density: float) -> list[float]:
    """For each cell the share of its bytes that the view shows; short steps are a density."""
    stride, run = outer
    if stride * CELLS <= whole:
        stride = run = 0
    inner = density * stride / run if stride else density
    found = []
    for cell in range(CELLS):
        start, stop = cell * whole / CELLS - offset, (cell + 1) * whole / CELLS - offset
        low, high = max(start, 0), min(stop, extent)
        if high <= low:
            found.append(0.0)
        elif stride:
            found.append(
                max(_in_runs(high, stride, run) - _in_runs(low, stride, run), 0) * inner / (stop - start)
            )
        else:
            found.append(max((high - low) / (stop - start), 0.01) * density)
    return found


def _in_runs(stop: float, stride: int, run: int) -> float:
    """Bytes of runs that begin at 0, stride, 2 * stride ... and lie before `stop`."""
    steps, rest = divmod(stop, stride)
    return float(steps * run + min(rest, run))


def _sample() -> tuple[Buffer, Layout]:
    from inspector.views import buffer, layout

    return buffer._sample(), layout._sample()


if __name__ == "__main__":
    print(ruler(*_sample()))
