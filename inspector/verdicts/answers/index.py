"""The part of its base that a view shows, in words: "every 2nd row and every 3rd column, transposed"."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from math import prod

from inspector.facts.record import dataclass
from inspector.facts.strides import Integers, dense, is_contiguous, ordinal


@dataclass(frozen=True, slots=True)
class Axis:
    """What a view shows of one axis of its base: `count` places from `start`, `step` apart."""

    number: int
    start: int
    step: int
    count: int
    length: int
    """Places of the base's axis."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A strided block: the address of its first element, its shape, its strides in bytes."""

    first: int
    shape: Integers
    strides: Integers
    itemsize: int

    @property
    def is_dense(self) -> bool:
        """Whether the elements lie without gaps, the last axis fastest."""
        return is_contiguous(self.shape, self.strides, self.itemsize, "C")


def part_of(view: Grid, base: Grid, noun: str = "element") -> str:
    """Which elements of `base` the view shows; "" where the words would be longer than the index.

    "all of it" is not said: the text is "" as well. `noun` names the elements of a base of one axis.
    """
    if not base.shape or 0 in (*base.shape, *view.shape) or view.itemsize != base.itemsize:
        return ""
    if not base.is_dense:
        return ""
    base = Grid(base.first, base.shape, dense(base.shape, base.itemsize), base.itemsize)
    axes = _axes(view, base)
    if axes is None:
        return _run(view, base, noun)
    said = [words for axis in sorted(axes, key=lambda one: one.number) if (words := _words(axis, base, noun))]
    moved = [axis.number for axis in axes if axis.count > 1]
    repeated = prod(n for n, stride in zip(view.shape, view.strides, strict=True) if n > 1 and not stride)
    text = " and ".join(said)
    ends = [_order(moved)] if moved != sorted(moved) else []
    ends += [f"repeated {repeated:,} times"] if repeated > 1 else []
    return ", ".join([*([text] if text else []), *ends])


def _axes(view: Grid, base: Grid) -> list[Axis] | None:
    """For each axis of the base what the view shows of it, in the view's order; None if it is reshaped."""
    places, rest = [], view.first - base.first
    for stride in base.strides:
        place, rest = divmod(rest, stride)
        places.append(place)
    if rest:
        return None
    found: list[Axis] = []
    for n, stride in zip(view.shape, view.strides, strict=True):
        if n == 1 or not stride:
            continue
        number = next((k for k, step in enumerate(base.strides) if abs(stride) >= step), -1)
        if number < 0 or stride % base.strides[number] or number in [axis.number for axis in found]:
            return None
        step = stride // base.strides[number]
        axis = Axis(number, places[number], step, n, base.shape[number])
        if not 0 <= axis.start + step * (n - 1) < axis.length:
            return None
        found.append(axis)
    known = {axis.number for axis in found}
    fixed = (Axis(k, places[k], 1, 1, n) for k, n in enumerate(base.shape) if k not in known)
    return [*found, *fixed]


def _run(view: Grid, base: Grid, noun: str) -> str:
    """The words for a contiguous view that is reshaped: the whole base, or a run of its elements."""
    turned = ""
    if not view.is_dense:
        view, turned = Grid(view.first, view.shape[::-1], view.strides[::-1], view.itemsize), ", transposed"
    if not view.is_dense:
        return ""
    count, whole = prod(view.shape), prod(base.shape)
    shaped = f"reshaped to {view.shape}"
    if count == whole:
        return f"{shaped}{turned}"
    start = (view.first - base.first) // view.itemsize
    if not 0 <= start <= whole - count:
        return ""
    flat = f"{noun}s {start:,} to {start + count - 1:,}"
    return flat if len(view.shape) == 1 else f"{flat}, {shaped}{turned}"


def _order(moved: list[int]) -> str:
    return "transposed" if len(moved) == 2 else f"its axes in the order {', '.join(map(str, moved))}"


def _words(axis: Axis, base: Grid, noun: str) -> str:
    """The words for one axis; "" if the view shows all of it."""
    one, many, of = _nouns(axis.number, len(base.shape), noun)
    last = axis.start + axis.step * (axis.count - 1)
    if axis.count == 1:
        return "" if axis.length == 1 else f"{one} {axis.start:,}{of}"
    if axis.step == 1:
        return "" if axis.count == axis.length else f"{many} {axis.start:,} to {last:,}{of}"
    if axis.step == -1:
        whole = axis.count == axis.length
        return f"{many}{of} reversed" if whole else f"{many} {axis.start:,} down to {last:,}{of}"
    every = f"every {ordinal(abs(axis.step))} {one}{of}"
    return every + "".join(_limits(axis, last))


def _limits(axis: Axis, last: int) -> Iterator[str]:
    """Where a step begins and ends, unless it covers the axis from its first place."""
    if axis.step < 0:
        yield f" from {axis.start:,} down to {last:,}"
    elif last + axis.step < axis.length:
        yield f" from {axis.start:,} to {last:,}"
    elif axis.start:
        yield f" from {axis.start:,}"


def _nouns(number: int, axes: int, noun: str) -> tuple[str, str, str]:
    """(one place of an axis, many, which axis): "row", "rows", ""; "index", "indices", " of axis 2"."""
    if axes > 2:
        return "index", "indices", f" of axis {number}"
    one = noun if axes == 1 else ("row", "column")[number]
    return one, f"{one}s", ""
