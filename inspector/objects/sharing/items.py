"""Whether two lists, or a list and an object, hold the same objects: by identity, without running code."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

from inspector import _native
from inspector.facts.comparison import Values

MOST_ITEMS = 100_000
"""Items that are compared; longer lists are compared to this number."""


def items(a: _native.Subject, b: _native.Subject) -> Values | None:
    """Two exact lists or tuples, or two exact dicts, compared item by item; None for anything else."""
    kinds = {type(a.get()), type(b.get())}
    if kinds <= {list, tuple}:
        return _compared(a.get(), b.get())
    if kinds == {dict}:
        return _compared(list(a.get().values()), list(b.get().values()))
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
