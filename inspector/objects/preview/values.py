"""The elements of an object as Python values, to be compared before and after; runs in the child only."""

# SPDX-License-Identifier: MIT
from itertools import islice
from typing import Any, Final

from inspector import _native

MOST: Final = 100_000
"""Most elements compared: the first ones."""
SHOWN: Final = 3
_LISTS: Final = ("to_pylist", "to_list", "tolist")


def elements(x: Any) -> list[Any] | None:
    """The first elements, nested ones flattened; None if it has no list of them."""
    part = _beginning(x)
    for name in _LISTS:
        if callable(method := getattr(part, name, None)):
            try:
                return list(islice(_flat(method()), MOST))
            except (NotImplementedError, TypeError, ValueError):  # a memoryview of characters
                return None
    is_plain = _native.exactly(part, list, tuple, bytes, bytearray)
    return list(islice(_flat(part), MOST)) if is_plain else None


def _beginning(x: Any) -> Any:
    """The first items of a sequence; what cannot be cut (a dict, an array without axes) as it is."""
    if not hasattr(type(x), "__getitem__") or hasattr(type(x), "columns"):
        return x
    try:
        return x[:MOST]
    except Exception:  # of any library
        return x


def _flat(items: Any) -> Any:
    for item in items if isinstance(items, list | tuple | bytes | bytearray) else [items]:
        if isinstance(item, list | tuple):
            yield from _flat(item)
        else:
            yield item


def lost(before: list[Any] | None, after: list[Any] | None) -> tuple[int, list[str]] | str:
    """(how many differ, the first ones in words), or why they could not be compared."""
    if before is None or after is None:
        return "its elements cannot be listed"
    if len(before) != len(after):
        return f"{len(before):,} elements became {len(after):,}"
    changed = [(one, other) for one, other in zip(before, after, strict=True) if not _same(one, other)]
    return len(changed), [f"{one!r:.30} → {other!r:.30}" for one, other in changed[:SHOWN]]


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal; two NaNs are, values that do not tell (pandas.NA, an array) are not."""
    try:
        return one is other or bool(one == other) or bool(one != one and other != other)
    except Exception:  # of any library
        return False
