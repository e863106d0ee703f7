"""Columns before and after a conversion: which rows are null, which numbers a cast changed.

Of polars, pandas and pyarrow, for objects of their own exact types. A mask takes one byte a row, so it is
asked only of what a conversion may have emptied. Objects in a column are not asked: their code would run.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple

from inspector.adapters.base import type_module, type_name

Rule = Literal["null", "fraction", "precision", "overflow", "cut"]
MOST_COMPARED: Final = 1 << 14
MOST_COLUMNS: Final = 64
MOST_ROWS: Final = 10_000_000
WORDS: Final = {"polars": "null", "pandas": "NaN", "pyarrow": "null"}
_TABLES: Final = ("DataFrame", "Table", "RecordBatch")
_SINGLE: Final = ("Series", "Index", "DatetimeIndex", "Categorical", "ChunkedArray")
_PLAIN: Final = frozenset((str, int, float, bool, type(None)))


def masks(x: Any) -> dict[str, Any]:
    """Column -> NumPy's array of truths; the key of a single column is its name, or "".

    {} for objects of other types, and of more than MOST_ROWS rows.
    """
    library = _library(x)
    if not library or len(x) > MOST_ROWS:
        return {}
    found = ((name, _mask(library, values)) for name, values in _columns(library, x))
    return {name: mask for name, mask in found if mask is not None}


def word(x: Any) -> str:
    """How the library of `x` writes a null."""
    return WORDS[_library(x) or "polars"]


def text(x: Any, column: str, row: int) -> str:
    """An element as Python writes it; of another object than a number or a text only its type."""
    library = _library(x)
    values = next(held for name, held in _columns(library, x) if name == column)
    one = values.iloc[row] if hasattr(values, "iloc") else values[row]
    plain = one.as_py() if library == "pyarrow" else one
    return repr(plain) if type(plain) in _PLAIN else type_name(type(plain))


def column(x: Any, name: str) -> Any:
    """The numbers of a column without nulls, as NumPy's array; None for other elements."""
    library = _library(x)
    values = next(held for own, held in _columns(library, x) if own == name)
    if library == "pyarrow" and not hasattr(values, "chunks"):
        found = values.to_numpy(zero_copy_only=False)
    else:
        found = values.to_numpy()
    return found if type(found).__name__ == "ndarray" and found.dtype.kind in "iuf" else None


def _library(x: Any) -> str:
    """The library of an object that has columns; "" for any other."""
    library, name = type_module(type(x)).partition(".")[0], type_name(type(x))
    is_array = library == "pyarrow" and name.endswith("Array")
    return library if library in WORDS and (name in (*_TABLES, *_SINGLE) or is_array) else ""


def _columns(library: str, x: Any) -> Iterator[tuple[str, Any]]:
    if type_name(type(x)) not in _TABLES:
        name = getattr(x, "name", None) if library != "pyarrow" else None
        yield name if type(name) is str else "", x
        return
    for position, name in enumerate(
        list(x.columns if library != "pyarrow" else x.column_names)[:MOST_COLUMNS]
    ):
        yield str(name), _column(library, x, position)


def _column(library: str, x: Any, position: int) -> Any:
    if library == "polars":
        return x.to_series(position)
    return x.column(position) if library == "pyarrow" else x.iloc[:, position]


def _mask(library: str, values: Any) -> Any:
    if library == "polars":
        return values.is_null().to_numpy()
    if library == "pyarrow":
        found = values.is_null()
        return found.to_numpy(**({} if hasattr(found, "chunks") else {"zero_copy_only": False}))
    if values.dtype == object and not _PLAIN.issuperset(map(type, values)):
        return None
    found = values.isna()
    return getattr(found, "to_numpy", lambda: found)()


class Cast(NamedTuple):
    """What a cast changed: (element before, after, its number, how many), of so many compared."""

    rule: Rule
    told: tuple[str, str, int, int]
    compared: int
    error: float
    """Of numbers that were rounded: the largest difference, relative to the number; else 0."""


def cast(before: Any, after: Any) -> Cast | None:
    """What a cast to another type changed in an array of numbers; None if nothing, or if it is no cast."""
    import numpy as np  # not at the top: a traced program may have none

    if before.dtype == after.dtype:
        return None
    step = max(len(before) // MOST_COMPARED, 1)
    some, made = before[::step], after[::step]
    with np.errstate(all="ignore"):
        if not np.array_equal(some.astype(made.dtype), made, equal_nan=made.dtype.kind == "f"):
            return None
        lost = np.flatnonzero((made.astype(some.dtype) != some) & (some == some))
        if not len(lost):
            return None
        rule = _rule(some[lost], made[lost])
        errors = np.abs(made[lost] - some[lost]) / np.abs(some[lost])
    first = int(lost[0])
    told = (repr(some[first].item()), repr(made[first].item()), first * step, len(lost))
    return Cast(rule, told, len(some), float(errors.max()) if rule == "precision" else 0.0)


def _rule(was: Any, now: Any) -> Rule:
    import numpy as np

    if now.dtype.kind == "f":
        return "overflow" if np.isinf(now).any() else "precision"
    return "fraction" if was.dtype.kind == "f" and np.array_equal(np.trunc(was), now) else "overflow"
