"""What lists, dicts and plain values have in common: by identity or exact value, without running code."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, product
from math import isnan
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

from inspector import _native
from inspector.adapters.base import Elements
from inspector.adapters.registry import adapter_of
from inspector.facts.comparison import Values
from inspector.facts.strides import is_contiguous
from inspector.objects.classes import type_bases, type_module
from inspector.objects.referents import is_full

MOST_ITEMS = 100_000
"""Items that are compared; longer lists are compared to this number."""
_ATOMS = (int, float, complex, bool, str)
"""Types whose exact instances compare without code of a user."""
_LONGEST = 1 << 16
_WORD = 8


def items(a: _native.Subject, b: _native.Subject, shown: bool) -> Values | None:
    """Two exact lists or tuples, two exact dicts, or two plain values; None for anything else."""
    both = (a.get(), b.get())
    if all(_native.exactly(one, list, tuple) for one in both):
        return _compared(*both) if all(map(is_full, both)) else None
    if all(type(one) is dict for one in both):
        return _compared(*(list(one.values()) for one in both))
    is_alike = type(both[0]) is type(both[1]) and _native.exactly(both[0], *_ATOMS)
    if is_alike or all(map(_is_range, both)):
        return _plain(*both, shown)
    numbers = [_number(one.get()) for one in (a, b)]
    return _plain(numbers[0], numbers[1], shown) if None not in numbers else None


def _number(x: Any) -> Any:
    """A number of Python's, also of a scalar of NumPy that has room for no more; else None."""
    if _native.exactly(x, int, float, complex, bool):
        return x
    np = sys.modules.get("numpy")
    kinds = () if np is None else (np.number, np.bool_)
    is_scalar = any(base is kind for kind in kinds for base in type_bases(type(x)))
    item = x.item() if is_scalar and type_module(type(x)) == "numpy" else None
    return item if _native.exactly(item, int, float, complex, bool) else None


def _is_range(x: Any) -> bool:
    """A range of exact ints, which compares without code of a user."""
    return type(x) is range and all(type(one) is int for one in (x.start, x.stop, x.step))


def _compared(one: Any, other: Any) -> Values | None:
    """Item by item; None if the lengths differ."""
    total = len(one)
    if total != len(other) or not total:
        return None
    bound = min(total, MOST_ITEMS)
    differs = next((n for n in range(bound) if one[n] is not other[n]), None)
    varied = any(one[n] is not one[0] for n in range(1, bound))
    first = () if differs is None else (differs,)
    return Values(differs is None, "objects", bound, total, "C", "C", varied, first, "", "")


def _is_same(one: Any, other: Any) -> bool:
    """Whether two are equal; NaN is NaN, as among the elements of arrays."""
    if type(one) is complex and type(other) is complex:
        return _is_same(one.real, other.real) and _is_same(one.imag, other.imag)
    return bool(one == other) or (type(one) is type(other) is float and isnan(one) and isnan(other))


def _plain(one: Any, other: Any, shown: bool) -> Values:
    equal = _is_same(one, other)
    texts = ("", "")
    if shown and not equal and max(one.__sizeof__(), other.__sizeof__()) < _LONGEST:
        texts = (repr(one), repr(other))
    return Values(equal, "values", 1, 1, "C", "C", False, (), *texts)


def inside(names: Sequence[str], subjects: Sequence[_native.Subject], owners: Sequence[Any]) -> str:
    """How one of two objects is reached from the other by one step; "" if it is not.

    `owners`: the owners of each, of which those that are certain tell attributes and closures.
    """
    for name, holder, item, known in zip(names, subjects, subjects[::-1], owners[::-1], strict=True):
        if holder.address == item.address:
            return ""
        if found := _item(name, holder, item.address) or _attribute(name, holder, known):
            return found
    return ""


def _item(name: str, holder: _native.Subject, address: int) -> str:
    x = holder.get()
    if _native.exactly(x, list, tuple):
        if not is_full(x):
            return ""
        place = next((n for n, one in enumerate(islice(x, MOST_ITEMS)) if id(one) == address), None)
        return "" if place is None else f"{name}[{place}]"
    if type(x) is dict:
        keys = (key for key, one in islice(x.items(), MOST_ITEMS) if id(one) == address)
        key = next((key for key in keys if _native.exactly(key, str, int)), None)
        return "" if key is None else f"{name}[{key!r}]"
    if type(x) is partial:
        return next((f"{name}.args[{n}]" for n, one in enumerate(x.args) if id(one) == address), "")
    if _native.exactly(x, MethodType, BuiltinMethodType) and id(x.__self__) == address:
        return f"{name}.__self__"
    return _element(name, holder, address)


def _element(name: str, holder: _native.Subject, address: int) -> str:
    """The element of an ndarray of objects, which refers to the object."""
    adapter = adapter_of(type(holder.get()))
    blocks = adapter.elements(holder.get()) if adapter is not None and adapter.library == "numpy" else ()
    if len(blocks) != 1 or blocks[0].format not in ("O", "object"):
        return ""
    block = blocks[0]
    at = next((n for n, one in enumerate(_references(block)) if one == address), None)
    if at is None:
        return ""
    index = next(islice(product(*map(range, block.shape)), at, None))
    return f"{name}[{', '.join(map(str, index)) or '()'}]"


def _references(block: Elements) -> Iterator[int]:
    """The first MOST_ITEMS addresses that an array of objects has."""
    if is_contiguous(block.shape, block.strides_bytes, block.itemsize_bytes, "C"):
        raw = _native.read(block.address, min(block.size, MOST_ITEMS) * _WORD) or b""
        yield from memoryview(raw).cast("Q")
        return
    for index in islice(product(*map(range, block.shape)), MOST_ITEMS):
        at = block.address + sum(n * stride for n, stride in zip(index, block.strides_bytes, strict=True))
        yield int.from_bytes(_native.read(at, _WORD) or b"", "little")


def _attribute(name: str, holder: _native.Subject, owners: Any) -> str:
    """An attribute, or a variable of a function's closure, by the owners of what it refers to."""
    x = holder.get()
    cells = [id(cell) for cell in x.__closure__ or ()] if type(x) is FunctionType else []
    for one in owners:
        if not one.certain:
            continue
        if one.kind in ("attribute", "slot") and one.address == holder.address and one.key.startswith("."):
            return f"{name}{one.key}"
        if one.kind == "cell" and one.address in cells:
            return f"{name}.__closure__[{cells.index(one.address)}].cell_contents"
    return ""
