"""What lists, dicts and plain values have in common: by identity or exact value, without running code."""

# SPDX-License-Identifier: MIT
from itertools import islice
from typing import Any

from inspector import _native
from inspector.facts.comparison import Values

MOST_ITEMS = 100_000
"""Items that are compared; longer lists are compared to this number."""
_ATOMS = (int, float, complex, bool, str)
"""Types whose exact instances compare without code of a user."""
_LONGEST = 1 << 16


def items(a: _native.Subject, b: _native.Subject, shown: bool) -> Values | None:
    """Two exact lists or tuples, two exact dicts, or two plain values; None for anything else."""
    kinds = {type(a.get()), type(b.get())}
    if kinds <= {list, tuple}:
        return _compared(a.get(), b.get())
    if kinds == {dict}:
        return _compared(list(a.get().values()), list(b.get().values()))
    if len(kinds) == 1 and kinds <= set(_ATOMS):
        return _plain(a.get(), b.get(), shown)
    return None


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


def _plain(one: Any, other: Any, shown: bool) -> Values:
    equal = one == other
    texts = ("", "")
    if shown and not equal and max(one.__sizeof__(), other.__sizeof__()) < _LONGEST:
        texts = (repr(one), repr(other))
    return Values(equal, "values", 1, 1, "C", "C", False, (), *texts)


def inside(names: tuple[str, str], a: _native.Subject, b: _native.Subject) -> str:
    """How one object is reached from the other, where that is an exact list, tuple or dict."""
    for name, holder, item in ((names[0], a, b), (names[1], b, a)):
        if holder.address != item.address and (found := _item(name, holder.get(), item.address)):
            return found
    return ""


def _item(name: str, holder: Any, address: int) -> str:
    if type(holder) in (list, tuple):
        place = next((n for n, one in enumerate(islice(holder, MOST_ITEMS)) if id(one) == address), None)
        return "" if place is None else f"{name}[{place}]"
    if type(holder) is dict:
        keys = (key for key, one in islice(holder.items(), MOST_ITEMS) if id(one) == address)
        key = next((key for key in keys if type(key) in (str, int)), None)
        return "" if key is None else f"{name}[{key!r}]"
    return ""
