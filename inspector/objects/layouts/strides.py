"""Describe shape and strides: contiguity, and words for the order (transposed, reversed, broadcast)."""

# SPDX-License-Identifier: MIT
from inspector.facts.strides import Integers, ordinal
from inspector.facts.strides import is_contiguous as is_contiguous


def words(shape: Integers, strides: Integers, itemsize: int) -> tuple[str, ...]:
    """Words for the strides, most important first."""
    if not shape:
        return ("scalar",)
    if 0 in shape:
        return ("empty",)
    axes = [(n, stride) for n, stride in zip(shape, strides, strict=True) if n > 1]
    moving = [(n, stride) for n, stride in axes if stride]
    found = []
    if len(moving) < len(axes):
        found.append("broadcast")
    if any(stride < 0 for _, stride in moving):
        found.append("reversed")
    if overlaps_itself(moving, itemsize):
        return (*found, "overlapping")
    forward = [(n, abs(stride)) for n, stride in moving]
    return (*found, *_order(forward, itemsize, plain=not found))


def _order(axes: list[tuple[int, int]], itemsize: int, plain: bool) -> tuple[str, ...]:
    """The order of axes with positive strides that do not overlap."""
    lengths = tuple(n for n, _ in axes)
    steps = tuple(step for _, step in axes)
    if is_contiguous(lengths, steps, itemsize, "C"):
        return ("C order",) if plain else ()
    if is_contiguous(lengths, steps, itemsize, "F"):
        return ("Fortran order",)
    falling = sorted(steps, reverse=True)
    sliced = _gaps(axes, itemsize)
    if list(steps) == falling:
        return sliced
    return ("transposed", *(word for word in sliced if word != "sliced"))


def _gaps(axes: list[tuple[int, int]], itemsize: int) -> tuple[str, ...]:
    """Where elements are left out: ("every 2nd element",), ("sliced",), both or neither."""
    (n, inner), *outer = sorted(axes, key=lambda axis: axis[1])
    found = []
    if inner != itemsize:
        found.append(every(inner // itemsize) if itemsize and inner % itemsize == 0 else "sliced")
    for count, stride in outer:
        if stride > n * inner:  # a longer step than its inner axis needs
            found.append("sliced")
        n, inner = count, stride
    return tuple(dict.fromkeys(found))


def every(n: int) -> str:
    """The words for a step of `n` elements: "every 2nd element"."""
    return f"every {ordinal(n)} element"


def overlaps_itself(axes: list[tuple[int, int]], itemsize: int) -> bool:
    """Whether two elements may share bytes: a step shorter than its inner extent (no zero strides)."""
    reach = itemsize
    for n, stride in sorted(axes, key=lambda axis: abs(axis[1])):
        if abs(stride) < reach:
            return True
        reach += (n - 1) * abs(stride)
    return False
