"""Whether two blocks hold equal elements: read from memory, in the order of rows or of columns.

No code of a type runs: only numbers and fixed formats are compared, as NumPy keeps them. A page that is not
in memory is not read.
"""

# SPDX-License-Identifier: MIT
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from math import isnan, prod
from typing import Any

from inspector import _native
from inspector.adapters.base import Elements
from inspector.adapters.formats import letter
from inspector.facts.comparison import Values
from inspector.facts.unknown import Unknown

WHOLE_BYTES = 8 << 20
"""Larger blocks are compared by sample; this much takes about 20 ms."""
MOST_RUNS = 1 << 12
"""Most rows that are gathered one by one; blocks with more are compared by sample."""
MOST_NUMBERS = 1 << 18
"""Most numbers of two formats that are compared one by one."""
SAMPLE = 1000
CHOSEN = 24
CHOSEN_BYTES = 1 << 20
MOST_CAST = 1 << 13
BYTES_TOGETHER = 8
"""Elements that are looked for in others, most bytes of these, and most numbers of another type."""
ORDERS = (("C", "C"), ("F", "C"), ("C", "F"))
_NUMBERS = frozenset("bBhHiIlLqQfd?")
_COMPLEX = {"c16": "d", "Zd": "d", "c8": "f", "Zf": "f"}
"""Complex numbers -> the type of their halves."""
_WORDS: dict[int, Any] = {1: "B", 2: "H", 4: "I", 8: "Q"}

Text = Callable[[Elements, bytes], "str | Unknown"]


def values(
    a: Elements, b: Elements, texts: tuple[Text, Text], shown: bool = True, whole_bytes: int = WHOLE_BYTES
) -> Values | Unknown:
    """Compare the elements of two blocks in pairs. `texts`: how each side's library prints an element;
    blocks of more than `whole_bytes` are compared by sample."""
    if why := _incomparable(a, b):
        return Unknown(why)
    if not a.size:
        return Values(True, "values", 0, 0, "C", "C", False, (), "", "")
    orders = ORDERS if max(len(a.shape), len(b.shape)) > 1 else ORDERS[:1]
    found: Values | Unknown | None = None
    for left, right in orders:
        judged = _compared(a, left, b, right, texts, shown, whole_bytes)
        if isinstance(judged, Unknown) or judged.equal:
            return judged
        found = found or judged
    assert found is not None
    return found


def same_items(source: Elements, items: list[Any] | tuple[Any, ...]) -> bool | None:
    """Whether the numbers of a list are the elements of a vector; None if that cannot be told."""
    if source.shape != (len(items),) or letter(source.typestr) not in _NUMBERS or not items:
        return None
    numbers = tuple(_sample(len(items)))
    raw, found = _picked(source, "C", numbers), [items[number] for number in numbers]
    if raw is None or any(type(one) not in (int, float, bool) for one in found) or len(set(found)) == 1:
        return None
    return not any(_differ(x, y) for x, y in zip(_numbers(source, raw), found, strict=True))


def chosen_from(block: Elements, others: tuple[Elements, ...]) -> bool | None:
    """Whether the elements of a block are among those of others, in whatever order: by a sample of them.

    Of texts and bytes some that stand side by side. Zeros and numbers that are none (NaN) fill gaps, and
    are passed over. None where nothing can be told: other types, too many elements, all of them the same.
    """
    kind, size = letter(block.typestr), block.itemsize_bytes
    alike = [one for one in others if letter(one.typestr) == kind and one.itemsize_bytes == size]
    known = _NUMBERS - {"?"} if size > 1 else frozenset()
    other = [one for one in others if one not in alike and {kind, letter(one.typestr)} <= known]
    room = sum(one.range.bytes for one in (*alike, *other))
    if not block.size or not block.numeric or kind == "?" or room > CHOSEN_BYTES:
        return None
    given = [_gathered(one, "C", CHOSEN_BYTES) for one in alike]
    found = _some_of(block, kind)
    if not (alike or other) or None in given or not found:
        return None
    missing = [one for one in found if not any(_stands_in(one, text or b"", size) for text in given)]
    if not missing or not other:
        return None if not alike or (not missing and len(found) < min(2, block.size)) else not missing
    if sum(one.size for one in other) > MOST_CAST:
        return None
    cast = {raw for one in other for raw in _cast(one, kind, size)}
    return cast.issuperset(missing) and (len(found) > 1 or None)


def _cast(block: Elements, kind: str, size: int) -> Iterator[bytes]:
    """The elements of a block in another type."""
    for number in _numbers(block, _gathered(block, "C", CHOSEN_BYTES) or b""):
        if (made := _narrowed(number, kind, size)) is not None:
            yield struct.pack(f"@{kind}", made)


def _some_of(block: Elements, kind: str) -> set[bytes]:
    """Some elements, or of single bytes some runs."""
    run = BYTES_TOGETHER if block.itemsize_bytes == 1 else 1
    last = block.size - run
    if last < 0 or (run > 1 and len(block.shape) != 1):
        return set()
    firsts = [i * last // max(CHOSEN - 1, 1) for i in range(min(CHOSEN, block.size))]
    raw = [_picked(block, "C", tuple(range(first, first + run))) for first in firsts]
    whole = {one for one in raw if one is not None and any(one)}
    if kind in ("f", "d"):
        return {one for one in whole if not isnan(struct.unpack(f"@{kind}", one)[0])}
    return whole


def cast_of(source: Elements, made: Elements) -> bool:
    """Whether the numbers of a block are those of another one in a narrower type: by a sample of them."""
    if half := _COMPLEX.get(made.typestr.lstrip("@=<|")):
        size = made.itemsize_bytes // 2
        real = replace(made, typestr=half, itemsize_bytes=size)
        imaginary = _picked(replace(real, address=made.address + size), "C", _spread(made.size))
        return imaginary is not None and not any(imaginary) and _same_numbers(source, real)
    kind, other = letter(made.typestr), letter(source.typestr)
    return kind != other and "?" not in (kind, other) and _same_numbers(source, made)


def _spread(size: int) -> tuple[int, ...]:
    return tuple(i * (size - 1) // max(CHOSEN - 1, 1) for i in range(min(CHOSEN, size)))


def _same_numbers(source: Elements, made: Elements) -> bool:
    kind, numbers = letter(made.typestr), _spread(made.size)
    if source.size != made.size or not {kind, letter(source.typestr)} <= _NUMBERS or not made.size:
        return False
    raw, given = _picked(made, "C", numbers), _picked(source, "C", numbers)
    if raw is None or given is None or raw == raw[: made.itemsize_bytes] * len(numbers):
        return False
    pairs = zip(_numbers(source, given), _numbers(made, raw), strict=True)
    return all(_narrowed(x, kind, made.itemsize_bytes) == y for x, y in pairs)


def _narrowed(number: float, kind: str, size: int) -> float | None:
    """A number as C converts it to a type; None for what has no defined result."""
    try:
        if kind in "fd":
            return float(struct.unpack(kind, struct.pack(kind, number))[0])
        whole = int(number) & ((1 << 8 * size) - 1)
    except (OverflowError, ValueError):
        return None
    return whole - (1 << 8 * size) if kind.islower() and whole >> (8 * size - 1) else whole


def _stands_in(one: bytes, text: bytes, size: int) -> bool:
    """Whether elements of so many bytes are some of those that follow each other in `text`."""
    at = text.find(one)
    while at >= 0 and at % size:
        at = text.find(one, at + 1)
    return at >= 0


def _incomparable(a: Elements, b: Elements) -> str:
    """Why the elements cannot be paired or compared; "" if they can."""
    if a.size != b.size:
        return f"{a.size:,} and {b.size:,} elements"
    known = letter(a.typestr) and letter(b.typestr)
    if not known and (a.typestr, a.itemsize_bytes) != (b.typestr, b.itemsize_bytes):
        return f"elements of {a.format} and {b.format} are not compared"
    if a.numeric != b.numeric or not 0 < a.itemsize_bytes <= 256 or not 0 < b.itemsize_bytes <= 256:
        return f"elements of {a.format} are not compared"
    if any(
        block.range.bytes and _native.views_freed(block.range.start, block.range.stop) for block in (a, b)
    ):
        return "its storage was freed: inspector.leaks saw it"
    return ""


def _compared(
    a: Elements, left: str, b: Elements, right: str, texts: tuple[Text, Text], shown: bool, whole_bytes: int
) -> Values | Unknown:
    """One pass: every element where both blocks are small enough and in memory, else a sample."""
    numbers = range(a.size)
    one = _gathered(a, left, whole_bytes)
    other = _gathered(b, right, whole_bytes) if one is not None else None
    if one is None or other is None or (a.typestr != b.typestr and a.size > MOST_NUMBERS):
        numbers_chosen = tuple(_sample(a.size))
        one, other = _picked(a, left, numbers_chosen), _picked(b, right, numbers_chosen)
        if one is None or other is None:
            return Unknown("its pages are not in memory: comparing would read them")
        position = _first_difference(a, one, b, other)
        at = None if position is None else numbers_chosen[position]
    else:
        numbers_chosen = ()
        position = at = _first_difference(a, one, b, other)
    count = len(numbers_chosen) or len(numbers)
    what = "values" if a.numeric else "objects"
    varied = len(one) > a.itemsize_bytes and one != one[: a.itemsize_bytes] * (len(one) // a.itemsize_bytes)
    if position is None or at is None:
        return Values(True, what, count, a.size, left, right, varied, (), "", "")
    pair = ("", "")
    if shown and a.numeric:
        pair = (_text(texts[0], a, one, position), _text(texts[1], b, other, position))
    return Values(False, what, count, a.size, left, right, varied, _index(a.shape, left, at), *pair)


def _text(say: Text, block: Elements, raw: bytes, position: int) -> str:
    size = block.itemsize_bytes
    text = say(block, raw[position * size : (position + 1) * size])
    return "" if isinstance(text, Unknown) else text


def _gathered(block: Elements, order: str, whole_bytes: int) -> bytes | None:
    """All elements in `order`, without gaps; None where a sample must do."""
    size, span = block.itemsize_bytes, block.range
    axes = list(zip(block.shape, block.strides_bytes, strict=True))
    axes = axes if order == "C" else axes[::-1]
    if max(span.bytes, block.size * size) > whole_bytes or not _in_memory(span.start, span.stop):
        return None
    raw = _native.read(span.start, span.bytes)
    if raw is None:
        return None
    offset = block.address - span.start
    axes = _joined([axis for axis in axes if axis[0] != 1])
    if not axes:
        return raw[offset : offset + size]
    *outer, (count, step) = axes
    if prod(length for length, _ in outer) > MOST_RUNS:
        return None
    starts = (offset + sum(steps) for steps in product(*([i * s for i in range(n)] for n, s in outer)))
    return b"".join(_run(raw, start, count, step, size) for start in starts)


def _joined(axes: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Neighbouring axes as one where the outer one continues the inner one."""
    found: list[tuple[int, int]] = []
    for length, step in axes[::-1]:
        if found and step == found[0][0] * found[0][1]:
            found[0] = (found[0][0] * length, found[0][1])
        else:
            found.insert(0, (length, step))
    return found


def _run(raw: bytes, start: int, count: int, step: int, size: int) -> bytes:
    """`count` elements from `start`, `step` bytes apart."""
    if step == size:
        return raw[start : start + count * size]
    if step == 0:
        return raw[start : start + size] * count
    if size in _WORDS and step % size == 0:
        first = start % size
        whole = (len(raw) - first) // size * size
        words: Any = memoryview(raw)[first : first + whole].cast(_WORDS[size])
        at, jump = (start - first) // size, step // size
        stop = at + count * jump
        return bytes(words[at : stop if stop >= 0 else None : jump].tobytes())
    return b"".join(raw[at : at + size] for at in range(start, start + count * step, step))


def _in_memory(start: int, stop: int) -> bool:
    """Whether every page of a range is in memory, so that reading brings none in."""
    found = _native.residency(((start, stop, 0),), 1)
    return found is not None and sum(found[1:5]) >= stop - start


def _sample(total: int) -> Iterator[int]:
    """At most SAMPLE numbers below `total`, spread, but at no regular distance."""
    count = min(total, SAMPLE)
    room = max(total // count, 1)
    yield from (min(i * total // count + i * 7919 % room, total - 1) for i in range(count))


def _picked(block: Elements, order: str, numbers: tuple[int, ...]) -> bytes | None:
    """The elements with these numbers; None if a page is not in memory."""
    size, found = block.itemsize_bytes, []
    for number in numbers:
        index = _index(block.shape, order, number)
        address = block.address + sum(i * s for i, s in zip(index, block.strides_bytes, strict=True))
        if (raw := _native.read_present(address, size)) is None:
            return None
        found.append(raw)
    return b"".join(found)


def _index(shape: tuple[int, ...], order: str, number: int) -> tuple[int, ...]:
    """The index of the element with this number in an order."""
    index = []
    for length in shape[::-1] if order == "C" else shape:
        number, rest = divmod(number, length)
        index.append(rest)
    return tuple(index[::-1] if order == "C" else index)


def _first_difference(a: Elements, one: bytes, b: Elements, other: bytes) -> int | None:
    """Number of the first pair that differs; None if all are equal."""
    if a.typestr == b.typestr:
        if one == other:
            return None
        size = a.itemsize_bytes
        first = _first_byte(one, other) // size
        if letter(a.typestr) not in tuple("efd"):
            return first
        pair = [_numbers(a, raw[first * size : (first + 1) * size])[0] for raw in (one, other)]
        if _differ(*pair):
            return first
    pairs = enumerate(zip(_numbers(a, one), _numbers(b, other), strict=True))
    return next((n for n, (x, y) in pairs if _differ(x, y)), None)


def _differ(x: float, y: float) -> bool:
    """Zeros of both signs are equal, and so are two values that are no numbers (NaN)."""
    return x != y and not (isnan(x) and isnan(y))


def _numbers(block: Elements, raw: bytes) -> tuple[float, ...]:
    return struct.unpack(f"@{len(raw) // block.itemsize_bytes}{letter(block.typestr)}", raw)


def _first_byte(one: bytes, other: bytes) -> int:
    """Number of the first byte that differs, by halving."""
    low, high = 0, len(one)
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] != other[low:middle]:
            high = middle
        else:
            low = middle
    return low
