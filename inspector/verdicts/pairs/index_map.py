"""Where each element of a view lies in another object: `b[i, j]` is `a[2*j, 3*i]`, from strides.

The address of `b[i, j]` is an affine function of i and j. It is written in the mixed radix of a's strides,
the largest first: the digits are a's indices. A digit is accepted only if it stays inside its axis for every
index of `b`; then the element is the right one, because a's axes do not reach into each other.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Sequence
from itertools import islice, product
from math import prod

from inspector.facts.comparison import Strided
from inspector.facts.record import dataclass
from inspector.facts.strides import is_contiguous

LETTERS = "ijklmnpqrstuvwxyz"
MOST_AXES = 6
MOST_TRIES = 256
"""Combinations of digits that are tried."""

Digits = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class IndexMap:
    """The sentence "`view` is `owner`", and how the owner's bytes are read."""

    view: str
    """`b[i, j]`."""
    owner: str
    """`a[2*j, 3*i]`; for bytes their number: `16*i + 8*j`."""
    how: str
    """"": the same element; else "read as int64", "bytes 4 to 7 of it", "byte"."""


@dataclass(frozen=True, slots=True)
class _Axes:
    """An owner's axes that lead somewhere, the largest step first, all steps made positive."""

    start: int
    places: tuple[int, ...]
    counts: tuple[int, ...]
    steps: tuple[int, ...]
    turned: frozenset[int]
    """Places whose step was negative."""


def index_map(
    view: Strided, view_name: str, owner: Strided, owner_name: str, *, partly: bool = False
) -> IndexMap | None:
    """Where the elements of `view` lie in `owner`; None if not all do, or if no short formula says it.

    `partly`: the first one must lie there; others where the indices are inside of the owner.
    """
    if 0 in (*view.shape, *owner.shape) or len(view.shape) > MOST_AXES or len(owner.shape) > MOST_AXES:
        return None
    letters = [letter for letter in LETTERS if letter not in (view_name, owner_name)][: len(view.shape)]
    shown = f"{operand(view_name)}[{', '.join(letters) or '()'}]"
    axes = _axes(owner)
    if axes is None:
        return None
    places = _digits(view.address - axes.start, axes)
    if places is None:
        return None
    digits, rest = places
    steps = list(zip(view.shape, view.strides_bytes, strict=True))
    found = _along(steps, axes) if partly else next(_affine(steps, digits, axes), None)
    if found is not None and (how := _component(view, owner, rest)) is not None:
        indices = _indices(owner, axes, digits, found, letters)
        return IndexMap(shown, f"{operand(owner_name)}[{', '.join(indices) or '()'}]{how[0]}", how[1])
    if partly:
        return None
    return _flat(view, shown, owner, owner_name, letters) or _bytes(view, shown, owner, owner_name, letters)


def operand(name: str) -> str:
    """A name as the beginning of an expression."""
    return (
        name if name.replace("_", "").replace(".", "").isalnum() or name.endswith((")", "]")) else f"({name})"
    )


def _axes(owner: Strided) -> _Axes | None:
    """None if the axes reach into each other: an address would be several elements."""
    rows = [
        (abs(step), count, place, step < 0)
        for place, (count, step) in enumerate(zip(owner.shape, owner.strides_bytes, strict=True))
        if count > 1 and step
    ]
    rows.sort(reverse=True)
    reach = owner.itemsize_bytes
    for step, count, _, _ in rows[::-1]:
        if step < reach:
            return None
        reach += (count - 1) * step
    start = owner.address - sum((count - 1) * step for step, count, _, turned in rows if turned)
    return _Axes(
        start,
        tuple(place for _, _, place, _ in rows),
        tuple(count for _, count, _, _ in rows),
        tuple(step for step, _, _, _ in rows),
        frozenset(place for _, _, place, turned in rows if turned),
    )


def _digits(distance: int, axes: _Axes) -> tuple[Digits, int] | None:
    """The element in which a byte lies, and its number there."""
    found = []
    for count, step in zip(axes.counts, axes.steps, strict=True):
        digit, distance = divmod(distance, step)
        if not 0 <= digit < count:
            return None
        found.append(digit)
    return (tuple(found), distance) if distance >= 0 else None


def _affine(view: Sequence[tuple[int, int]], digits: Digits, axes: _Axes) -> Iterator[tuple[Digits, ...]]:
    """For each axis of the view, its coefficients in the owner's indices; all digits stay in range."""
    choices = [
        [row for row in _written(step if count > 1 else 0, axes.steps) if _fits(row, count, axes)]
        for count, step in view
    ]
    for rows in islice(product(*choices), MOST_TRIES):
        if all(_in_range(m, digits[m], rows, view, count) for m, count in enumerate(axes.counts)):
            yield rows


def _along(view: Sequence[tuple[int, int]], axes: _Axes) -> tuple[Digits, ...] | None:
    """For a view that leaves the owner: coefficients, if each of its axes runs along one of the owner's."""
    rows = []
    for count, step in view:
        found = [row for row in _written(step if count > 1 else 0, axes.steps) if sum(map(bool, row)) <= 1]
        if not found:
            return None
        rows.append(found[0])
    return tuple(rows)


def _written(step: int, steps: Sequence[int]) -> Iterator[Digits]:
    """A step as sums of the owner's steps: each digit rounded down or up."""
    if not steps:
        if not step:
            yield ()
        return
    low, rest = divmod(step, steps[0])
    for digit in (low, low + 1) if rest else (low,):
        for others in _written(step - digit * steps[0], steps[1:]):
            yield (digit, *others)


def _fits(row: Digits, count: int, axes: _Axes) -> bool:
    return all(abs(digit) * (count - 1) < size for digit, size in zip(row, axes.counts, strict=True))


def _in_range(
    m: int, digit: int, rows: Sequence[Digits], view: Sequence[tuple[int, int]], count: int
) -> bool:
    reach = [row[m] * (length - 1) for row, (length, _) in zip(rows, view, strict=True)]
    return (
        digit + sum(min(0, one) for one in reach) >= 0 and digit + sum(max(0, one) for one in reach) < count
    )


def _component(view: Strided, owner: Strided, rest: int) -> tuple[str, str] | None:
    """(suffix, how) for the part of an element that the view shows; None if it reaches beyond one."""
    size = view.itemsize_bytes
    if rest + size > owner.itemsize_bytes:
        return None
    member = next((m for m in owner.members if (m.offset_bytes, m.size_bytes) == (rest, size)), None)
    if member is not None and member.format == view.format:
        return f'["{member.name}"]', ""
    halves = owner.format.startswith("complex") and size * 2 == owner.itemsize_bytes and rest in (0, size)
    if halves and view.format == f"float{size * 8}":
        return (".imag" if rest else ".real"), ""
    if size < owner.itemsize_bytes:
        last = f"{rest}" if size == 1 else f"{rest} to {rest + size - 1}"
        return "", f"byte{'' if size == 1 else 's'} {last} of it, read as {view.format}"
    return "", "" if view.format == owner.format else f"read as {view.format}"


def _indices(
    owner: Strided, axes: _Axes, digits: Digits, rows: Sequence[Digits], letters: Sequence[str]
) -> Iterator[str]:
    """The owner's indices as text; 0 on an axis that leads nowhere."""
    for place, count in enumerate(owner.shape):
        if place not in axes.places:
            yield "0"
            continue
        m = axes.places.index(place)
        terms = [(row[m], letter) for row, letter in zip(rows, letters, strict=True)]
        if place in axes.turned:
            yield expression(count - 1 - digits[m], [(-factor, letter) for factor, letter in terms])
        else:
            yield expression(digits[m], terms)


def expression(constant: int, terms: Sequence[tuple[int, str]]) -> str:
    """As in "2*j + 1", "9 - i", "i + j", "0"."""
    plus = [f"{factor}*{letter}" if factor != 1 else letter for factor, letter in terms if factor > 0]
    minus = [f"{-factor}*{letter}" if factor != -1 else letter for factor, letter in terms if factor < 0]
    head = [*plus, *([str(constant)] if constant > 0 or not (plus or minus or constant) else [])]
    tail = [*minus, *([str(-constant)] if constant < 0 else [])]
    return " - ".join([" + ".join(head), *tail]).strip().replace("- ", "-", 0 if head else 1)


def _flat(
    view: Strided, shown: str, owner: Strided, owner_name: str, letters: Sequence[str]
) -> IndexMap | None:
    """For a reshaped view of an owner without gaps: its number among the owner's elements."""
    size, order = owner.itemsize_bytes, _order(owner)
    away = view.address - owner.address
    if (view.itemsize_bytes, view.format) != (size, owner.format) or not order:
        return None
    if any(step % size for step in (*view.strides_bytes, away)) or not _inside(view, owner):
        return None
    steps = zip(view.shape, view.strides_bytes, letters, strict=True)
    terms = [(step // size, letter) for count, step, letter in steps if count > 1 and step]
    number = expression(away // size, terms)
    if len(owner.shape) == 2 and order == "C" and len(terms) == 1:
        one = number if number.isalpha() else f"({number})"
        return IndexMap(
            shown, f"{operand(owner_name)}[{one} // {owner.shape[1]}, {one} % {owner.shape[1]}]", ""
        )
    flat = "reshape(-1)" if order == "C" else "T.reshape(-1)"
    return IndexMap(shown, f"{operand(owner_name)}.{flat}[{number}]", "")


def _bytes(
    view: Strided, shown: str, owner: Strided, owner_name: str, letters: Sequence[str]
) -> IndexMap | None:
    """For a view with elements of another size: the number of its first byte among the owner's bytes."""
    if not _order(owner) or not _inside(view, owner) or view.itemsize_bytes == owner.itemsize_bytes:
        return None
    steps = zip(view.shape, view.strides_bytes, letters, strict=True)
    terms = [(step, letter) for count, step, letter in steps if count > 1 and step]
    number = expression(view.address - owner.address, terms)
    return IndexMap(shown, number, "byte" if view.itemsize_bytes == 1 else "bytes")


def _order(owner: Strided) -> str:
    """The order, "C" or "F", of an owner without gaps; "" for others."""
    lies = (owner.shape, owner.strides_bytes, owner.itemsize_bytes)
    return next((order for order in "CF" if is_contiguous(*lies, order)), "")


def _inside(view: Strided, owner: Strided) -> bool:
    """Whether every byte of the view lies between the first and the last of an owner without gaps."""
    reach = [(count - 1) * step for count, step in zip(view.shape, view.strides_bytes, strict=True)]
    low = view.address + sum(min(0, one) for one in reach)
    high = view.address + sum(max(0, one) for one in reach) + view.itemsize_bytes
    return owner.address <= low and high <= owner.address + owner.itemsize_bytes * prod(owner.shape)
