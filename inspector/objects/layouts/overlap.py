"""Exact overlap of strided byte sets: how many bytes two blocks have in common, by arithmetic alone.

A block is brought into a nested form: a contiguous run of bytes, repeated at a stride, that repeated at a
larger stride, and so on, where no repetition reaches into the next. Overlapping windows, reversed and
broadcast axes become such forms too. Two nested sets are intersected level by level: the pairs of repetitions
that can meet at all lie at a few distances (multiples of the strides' gcd), and how often each distance
occurs is a linear congruence. So `x[::2, ::2]` against `x[::3, ::3]` takes a few dozen steps for any x.

Sets without a nested form (rare, made by as_strided) are written out as intervals while they are small.
A proof of more than WORK steps is given up: TooLong.
"""

# SPDX-License-Identifier: MIT
from math import gcd

from inspector.facts.record import dataclass

WORK = 20_000
"""Most steps of a proof, about 20 ms."""
WRITTEN_OUT = 4_096
"""Elements of a set without a nested form that are written out."""

Axes = tuple[tuple[int, int], ...]
"""(repetitions, stride in bytes), the largest stride first."""
Parts = list[tuple[int, Axes]]
"""(offset, axes): parts of one set that have no byte in common."""
Spans = list[tuple[int, int]]


class TooLong(Exception):
    """The proof would take more steps than allowed."""


@dataclass(frozen=True, slots=True)
class Nested:
    """`run` bytes at `start`, repeated along axes that do not reach into each other."""

    start: int
    axes: Axes
    run: int

    @property
    def bytes(self) -> int:
        """Distinct bytes."""
        return _bytes(self.axes, self.run)

    @property
    def stop(self) -> int:
        """One past the last byte."""
        return self.start + _extent(self.axes, self.run)


def nested(address: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> Nested | None:
    """The bytes of a strided block in nested form; None if its axes reach into each other."""
    if 0 in shape or not itemsize:
        return Nested(address, (), 0)
    moving = [(n, s) for n, s in zip(shape, strides, strict=True) if n > 1 and s]
    start = address + sum((n - 1) * s for n, s in moving if s < 0)
    run = itemsize
    axes: list[tuple[int, int]] = []
    for n, s in sorted(((n, abs(s)) for n, s in moving), key=lambda axis: axis[1]):
        if not axes and s <= run:
            run += (n - 1) * s
        elif axes and s % axes[-1][1] == 0 and s // axes[-1][1] <= axes[-1][0]:
            count, inner = axes.pop()
            axes.append(((n - 1) * (s // inner) + count, inner))
        elif s >= _extent(tuple(axes), run):
            axes.append((n, s))
        else:
            return None
    return Nested(start, tuple(axes[::-1]), run)


def common_bytes(a: Nested, b: Nested) -> int:
    """Distinct bytes in both; raises TooLong."""
    return _Proof().common(a.axes, a.run, b.axes, b.run, b.start - a.start)


class _Proof:
    """One intersection: counts its steps, caches its partial results."""

    def __init__(self) -> None:
        self.steps = 0
        self.known: dict[tuple[Axes, Axes, int], int] = {}

    def common(self, a: Axes, a_run: int, b: Axes, b_run: int, shift: int) -> int:
        """Common bytes of `a` at 0 and `b` at `shift`."""
        if shift >= _extent(a, a_run) or -shift >= _extent(b, b_run):
            return 0
        if not b:
            return _inside(a, a_run, shift, shift + b_run)
        if not a:
            return _inside(b, b_run, -shift, a_run - shift)
        key = (a, b, shift)
        if key not in self.known:
            self.known[key] = self._by_levels(a, a_run, b, b_run, shift)
        return self.known[key]

    def _by_levels(self, a: Axes, a_run: int, b: Axes, b_run: int, shift: int) -> int:
        """Remove the outermost level of both, or of one, or make their steps equal, by least cost."""
        (a_count, a_step), *_ = a
        (b_count, b_step), *_ = b
        both = (_extent(a[1:], a_run) + _extent(b[1:], b_run)) // gcd(a_step, b_step) + 1
        a_group, b_group = b_step // gcd(a_step, b_step), a_step // gcd(a_step, b_step)
        grouped = 3 * min(a_group, b_group)
        divides = 1 < a_group < a_count or 1 < b_group < b_count  # else the split is the axis itself
        can_group = divides and a_group <= a_count and b_group <= b_count
        if can_group and grouped < min(both, a_count, b_count):
            return self._grouped(_split(a, a_group), a_run, _split(b, b_group), b_run, shift)
        self._spend(min(both, a_count, b_count))
        if both <= min(a_count, b_count):
            return self._both(a, a_run, b, b_run, shift)
        if a_count <= b_count:
            return sum(self.common(a[1:], a_run, b, b_run, shift - i * a_step) for i in range(a_count))
        return sum(self.common(a, a_run, b[1:], b_run, shift + j * b_step) for j in range(b_count))

    def _grouped(self, a: Parts, a_run: int, b: Parts, b_run: int, shift: int) -> int:
        return sum(
            self.common(a_axes, a_run, b_axes, b_run, shift + b_start - a_start)
            for a_start, a_axes in a
            for b_start, b_axes in b
        )

    def _both(self, a: Axes, a_run: int, b: Axes, b_run: int, shift: int) -> int:
        (a_count, a_step), *_ = a
        (b_count, b_step), *_ = b
        unit = gcd(a_step, b_step)
        lowest = -_extent(b[1:], b_run) - shift  # distances below it, or at it, cannot meet
        total = 0
        for distance in range((lowest // unit + 1) * unit, _extent(a[1:], a_run) - shift, unit):
            times = solutions(b_step, b_count, a_step, a_count, distance)
            if times:
                total += times * self.common(a[1:], a_run, b[1:], b_run, shift + distance)
        return total

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > WORK:
            raise TooLong


def _split(axes: Axes, group: int) -> Parts:
    """The outermost axis as groups of `group` repetitions, and the repetitions left over."""
    (count, step), *inner = axes
    groups, rest = divmod(count, group)
    parts: Parts = [(0, tuple(axis for axis in [(groups, group * step), (group, step)] if axis[0] > 1))]
    if rest:
        parts.append((groups * group * step, ((rest, step),) if rest > 1 else ()))
    return [(start, (*outer, *inner)) for start, outer in parts]


def solutions(p: int, p_count: int, q: int, q_count: int, distance: int) -> int:
    """How many (j, i) have j * p - i * q == distance, with 0 <= j < p_count and 0 <= i < q_count."""
    unit = gcd(p, q)
    if distance % unit:
        return 0
    p, q, distance = p // unit, q // unit, distance // unit
    j = distance * pow(p, -1, q) % q  # the smallest j; further ones are q apart, their i are p apart
    i = (j * p - distance) // q
    first = max(0, -(i // p))
    last = min((p_count - 1 - j) // q, (q_count - 1 - i) // p)
    return max(0, last - first + 1)


def _inside(axes: Axes, run: int, low: int, high: int) -> int:
    """Bytes of the set (at 0) in [low, high): whole repetitions are counted, the two cut ones intersected."""
    if not axes:
        return max(0, min(run, high) - max(0, low))
    (count, step), *inner = axes
    extent = _extent(tuple(inner), run)
    first = max(0, (low - extent) // step + 1)  # first and last that touch [low, high)
    last = min(count - 1, (high - 1) // step)
    whole_first = max(first, -(-low // step))
    whole_last = min(last, (high - extent) // step)
    cut = [i for i in {first, last} if first <= i <= last and not whole_first <= i <= whole_last]
    whole = max(0, whole_last - whole_first + 1) * _bytes(tuple(inner), run)
    return whole + sum(_inside(tuple(inner), run, low - i * step, high - i * step) for i in cut)


def _bytes(axes: Axes, run: int) -> int:
    for count, _ in axes:
        run *= count
    return run


def _extent(axes: Axes, run: int) -> int:
    return run + sum((count - 1) * step for count, step in axes) if run else 0


def written_out(address: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> Spans:
    """Sorted disjoint intervals of a block's bytes; raises TooLong for too many elements."""
    starts = [address]
    for n, s in zip(shape, strides, strict=True):
        if n * len(starts) > WRITTEN_OUT:
            raise TooLong
        starts = [start + i * s for start in starts for i in range(n)]
    return merged([(start, start + itemsize) for start in starts])


def merged(spans: Spans) -> Spans:
    """Sorted disjoint intervals that cover the same addresses."""
    result: Spans = []
    for start, stop in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(stop, result[-1][1]))
        else:
            result.append((start, stop))
    return result


def common_spans(a: Spans, b: Spans) -> int:
    """Bytes two lists of disjoint sorted intervals have in common."""
    total = i = j = 0
    while i < len(a) and j < len(b):
        total += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total
