"""Whether two tables hold equal values: column by column, where both keep a column in the same form."""

# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from dataclasses import replace

from inspector.adapters.base import Column
from inspector.facts.comparison import Values
from inspector.facts.unknown import Unknown
from inspector.objects.sharing.values import Text, values

NUMBERS = frozenset(
    ("float", "double", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
)
"""Arrow's types of which one buffer holds the values, where none is null."""


def table_values(
    left: Sequence[Column], right: Sequence[Column], texts: tuple[Text, Text], shown: bool
) -> Values | Unknown:
    """Compare columns of the same names in the same order. The first one that differs ends the search."""
    if [one.name for one in left] != [one.name for one in right]:
        return Unknown("the names of their columns differ")
    found: list[Values] = []
    compared, left_out = [], []
    for one, other in zip(left, right, strict=True):
        judged = _column(one, other, texts, shown)
        if judged is None:
            left_out.append(one.name)
            continue
        if not judged.equal:
            return replace(judged, parts=(one.name,))
        compared.append(one.name)
        found.append(judged)
    if not found:
        return Unknown("no column has a form in which values can be compared")
    return Values(
        True, "values", sum(one.compared for one in found), sum(one.total for one in found), "C", "C",
        any(one.varied for one in found), (), "", "", tuple(compared), tuple(left_out),
    )  # fmt: skip


def _column(one: Column, other: Column, texts: tuple[Text, Text], shown: bool) -> Values | None:
    """One block: its values. Several, as Arrow has for texts: equal if all bytes are; else not known."""
    if not one.elements or len(one.elements) != len(other.elements):
        return None
    whole = len(one.elements) == 1
    found = [values(a, b, texts, shown and whole) for a, b in zip(one.elements, other.elements, strict=True)]
    known = [each for each in found if not isinstance(each, Unknown) and each.what == "values"]
    if len(known) < len(found):
        return None
    if whole and all(column.format == column.elements[0].format for column in (one, other)):
        return known[0]
    if one.format != other.format or not all(block.protocol.startswith("Arrow") for block in one.elements):
        return None  # a form of its own, such as the codes of categories
    if whole and one.format in NUMBERS:
        return known[0]
    return known[-1] if all(each.equal for each in known) else None
