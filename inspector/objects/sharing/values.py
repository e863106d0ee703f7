"""Whether two blocks hold equal elements: read from memory, in the order of rows or of columns.

No code of a type runs: only numbers and fixed formats are compared, as NumPy keeps them. A page that is not
in memory is not read.
"""

# SPDX-License-Identifier: MIT
import ctypes
import struct
import sys
from collections.abc import Callable, Iterator
from itertools import compress, product
from math import isnan, prod
from operator import mul, ne
from typing import Any, Final

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
TOGETHER = 1 << 12
"""Numbers of two formats that are compared at a time."""
SAMPLE = 1000
FEW = 16
"""Elements that are compared first."""
ORDERS = (("C", "C"), ("F", "C"), ("C", "F"))
LONG = "f16"
"""NumPy's long double."""
NUMBERS = frozenset("bBhHiIlLqQefd?")
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


_OF_NUMPY: Final = (
    *("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)


def same_items(source: Elements, items: list[Any] | tuple[Any, ...]) -> bool | None:
    """Whether the numbers of a list are the elements of a vector; None if that cannot be told."""
    if source.shape != (len(items),) or letter(source.typestr) not in NUMBERS or not items:
        return None
    numbers = tuple(_sample(len(items)))
    raw, found = picked(source, "C", numbers), [_plain(items[number]) for number in numbers]
    are_numbers = all(_native.exactly(one, int, float, bool) for one in found)
    if raw is None or not are_numbers or len(set(found)) == 1:
        return None
    return not any(_differ(x, y) for x, y in zip(decoded(source, raw), found, strict=True))


def _plain(number: Any) -> Any:
    """A number of NumPy's own types as one of Python's; any other object as it is."""
    np: Any = sys.modules.get("numpy")
    kinds = () if np is None else tuple(getattr(np, name) for name in _OF_NUMPY)
    return number.item() if _native.exactly(number, *kinds) else number


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
    one = gathered(a, left, whole_bytes)
    other = gathered(b, right, whole_bytes) if one is not None else None
    if one is None or other is None or (a.typestr != b.typestr and a.size > MOST_NUMBERS):
        found = None
        for choose in (_sample,) if shown else (_few, _sample):  # seldom are they equal
            numbers_chosen = tuple(choose(a.size))
            found = _picked(a, left, b, right, numbers_chosen)
            if found is not None and found[2] is not None:
                break
        if found is None:
            return Unknown("its pages are not in memory: comparing would read them")
        one, other, position = found
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


def _picked(
    a: Elements, left: str, b: Elements, right: str, numbers: tuple[int, ...]
) -> tuple[bytes, bytes, int | None] | None:
    """Some elements of both, and the first of them that differs; None if they are not in memory."""
    one, other = picked(a, left, numbers), picked(b, right, numbers)
    return None if one is None or other is None else (one, other, _first_difference(a, one, b, other))


def _text(say: Text, block: Elements, raw: bytes, position: int) -> str:
    size = block.itemsize_bytes
    text = say(block, raw[position * size : (position + 1) * size])
    return "" if isinstance(text, Unknown) else text


def gathered(block: Elements, order: str, whole_bytes: int) -> bytes | None:
    """All elements in `order`, without gaps; None where a sample must do."""
    size, span = block.itemsize_bytes, block.range
    axes = list(zip(block.shape, block.strides_bytes, strict=True))
    axes = axes if order == "C" else axes[::-1]
    if max(span.bytes, block.size * size) > whole_bytes or not is_in_memory(span.start, span.stop):
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


def is_in_memory(start: int, stop: int) -> bool:
    """Whether every page of a range is in memory, so that reading brings none in."""
    found = _native.residency(((start, stop, 0),), 1)
    return found is not None and sum(found[1:5]) >= stop - start


def _few(size: int) -> range:
    return range(0, size, max(size // FEW, 1))


def _sample(total: int) -> Iterator[int]:
    """At most SAMPLE numbers below `total`, spread, but at no regular distance."""
    count = min(total, SAMPLE)
    room = max(total // count, 1)
    yield from (min(i * total // count + i * 7919 % room, total - 1) for i in range(count))


def picked(block: Elements, order: str, numbers: tuple[int, ...]) -> bytes | None:
    """The elements with these numbers; None if a page is not in memory."""
    if len(block.shape) == 1:
        (step,) = block.strides_bytes
        addresses = [block.address + number * step for number in numbers]
    else:
        indices = (_index(block.shape, order, number) for number in numbers)
        steps = block.strides_bytes
        addresses = [block.address + sum(map(mul, index, steps)) for index in indices]
    return _native.read_present(addresses, block.itemsize_bytes)


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
        pair = [decoded(a, raw[first * size : (first + 1) * size])[0] for raw in (one, other)]
        if _differ(*pair):
            return first
    for at in range(0, len(one) // a.itemsize_bytes, TOGETHER):
        left, right = _some(a, one, at), _some(b, other, at)
        unequal = compress(range(len(left)), map(ne, left, right))  # as fast as C: most differ soon, or never
        if (n := next((n for n in unequal if _differ(left[n], right[n])), None)) is not None:
            return at + n
    return None


def _some(block: Elements, raw: bytes, at: int) -> tuple[float, ...]:
    size = block.itemsize_bytes
    return decoded(block, raw[at * size : (at + TOGETHER) * size])


def _differ(x: float, y: float) -> bool:
    """Zeros of both signs are equal, and so are two values that are no numbers (NaN)."""
    return x != y and not (isnan(x) and isnan(y))


def decoded(block: Elements, raw: bytes) -> tuple[float, ...]:
    """Elements as Python's numbers; a long double as the nearest double."""
    if block.typestr.lstrip("<") == LONG:
        places = range(0, len(raw), block.itemsize_bytes)
        return tuple(ctypes.c_longdouble.from_buffer_copy(raw, at).value for at in places)
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
