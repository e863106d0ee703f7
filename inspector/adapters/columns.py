"""Columns before and after a conversion: which rows are null, which numbers a cast changed.

Of polars, pandas and pyarrow, for objects of their own exact types. A mask takes one byte a row, so it is
asked only of what a conversion may have emptied. Objects in a column are not asked: their code would run.
"""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

from inspector import _native
from inspector.adapters.base import type_module, type_name

Rule = Literal["null", "fraction", "precision", "overflow", "cut", "wrapped"]
MOST_COMPARED: Final = 1 << 14
MOST_COLUMNS: Final = 64
MOST_ROWS: Final = 10_000_000
WORDS: Final = {"polars": "null", "pandas": "NaN", "pyarrow": "null"}
_TABLES: Final = ("DataFrame", "Table", "RecordBatch")
_SINGLE: Final = ("Series", "Index", "DatetimeIndex", "Categorical", "ChunkedArray")
_PLAIN: Final = (str, int, float, bool, type(None))


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
    if are_decimals((plain,)):
        return str(plain)
    return repr(plain) if _native.exactly(plain, *_PLAIN) else type_name(type(plain))


def column(x: Any, name: str) -> Any:
    """The numbers or times of a column without nulls, as NumPy's array, of Decimals a sample; None for other
    elements."""
    library = _library(x)
    values = next(held for own, held in _columns(library, x) if own == name)
    if str(getattr(values, "dtype", getattr(values, "type", ""))).lower().startswith(("decimal", "object")):
        return _some_decimals(library, values)
    if library == "pyarrow" and not hasattr(values, "chunks"):
        found = values.to_numpy(zero_copy_only=False)
    else:
        found = values.to_numpy()
    return found if type(found).__name__ == "ndarray" and found.dtype.kind in "iufM" else None


def single(x: Any, name: str) -> tuple[Any, ...]:
    """(the column of that name of a table,); () where it has none."""
    library = _library(x) if type_name(type(x)) in _TABLES else ""
    return next(((held,) for own, held in _columns(library, x) if own == name), ()) if library else ()


def only(x: Any) -> Any:
    """The numbers or times of an object that is a single column; None for any other."""
    library = _library(x) if type_name(type(x)) not in _TABLES else ""
    return column(x, next(_columns(library, x))[0]) if library and not masks_any(x) else None


def masks_any(x: Any) -> bool:
    """Whether an object that is a single column has a null, or whether that is not known."""
    found = masks(x)
    return not found or any(bool(one.any()) for one in found.values())


def texts(x: Any) -> tuple[Any, ...]:
    """(every nth element, how many there are) of a column of pandas; () for anything else."""
    if _library(x) != "pandas" or type_name(type(x)) != "Series" or not len(x) or len(x) > MOST_ROWS:
        return ()
    return x.iloc[:: step_of(len(x))].tolist(), len(x)


def floats(x: Any) -> Any:
    """The floats of a column of pandas, as NumPy's array; None for anything else."""
    is_column = _library(x) == "pandas" and type_name(type(x)) == "Series"
    return x.to_numpy() if is_column and str(x.dtype) in ("float64", "float32") else None


def objects(x: Any) -> Any:
    """The array of Python objects that a column of pandas is; None for anything else."""
    is_column = _library(x) == "pandas" and type_name(type(x)) in ("Series", "Index")
    return x.to_numpy() if is_column and str(x.dtype) == "object" else None


def are_decimals(some: Iterable[Any]) -> bool:
    """Whether all of these are Decimals, and none of a subclass."""
    found = sys.modules.get("decimal")
    return found is not None and {found.Decimal}.issuperset(map(type, some))


def _are_plain(some: Iterable[Any]) -> bool:
    return all(_native.exactly(one, *_PLAIN) for one in some)


def _some_decimals(library: str, values: Any) -> Any:
    step = step_of(len(values))
    if library == "pandas":
        some = values.iloc[::step].to_numpy()
    else:
        found = values.gather_every(step).to_list() if library == "polars" else values[::step].to_pylist()
        some = sys.modules["numpy"].array(found, object)
    return some if are_decimals(some) else None


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
    if values.dtype == object and not _are_plain(values) and not are_decimals(values):
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
    step = step_of(len(after))
    if before.dtype.kind == "O":
        return _of_decimals(before, after[::step], step)
    some, made = before[::step], after[::step]
    if "M" in some.dtype.kind + made.dtype.kind:
        return _of_times(some, made, step)
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


def step_of(count: int) -> int:
    """Of so many elements every which one is compared."""
    return max(count // MOST_COMPARED, 1)


def _of_times(some: Any, made: Any, step: int) -> Cast | None:
    """Times in a coarser unit: what is left of each is its beginning; before 1970 it may be its end, where
    they are cut towards zero."""
    if some.dtype.kind != made.dtype.kind:
        return None
    units = (made - some.astype(made.dtype)).astype("i8")
    if not ((units == 0) | ((units == 1) & (some.astype("i8") < 0))).all():
        return None
    lost = (made.astype(some.dtype) != some).nonzero()[0]
    if not len(lost):
        return None
    first = int(lost[0])
    return Cast("fraction", (str(some[first]), str(made[first]), first * step, len(lost)), len(some), 0.0)


def _of_decimals(some: Any, made: Any, step: int) -> Cast | None:
    """Decimals as floats, each of which is the number that Python writes for it, or as integers."""
    to = {"f": float, "i": int, "u": int}.get(made.dtype.kind)
    if to is None or len(some) != len(made) or not are_decimals(some) or not all(map(_is_finite, some)):
        return None
    if [made.dtype.type(to(one)) for one in some] != list(made):
        return None
    lost = [at for at, one in enumerate(made.tolist()) if type(some[at])(repr(one)) != some[at]]
    if not lost:
        return None
    first = lost[0]
    told = (str(some[first]), repr(made[first].item()), first * step, len(lost))
    return Cast("precision" if to is float else "fraction", told, len(some), 0.0)


def _is_finite(one: Any) -> bool:
    return bool(one.is_finite())


def _rule(was: Any, now: Any) -> Rule:
    import numpy as np

    if now.dtype.kind == "f":
        return "overflow" if np.isinf(now).any() else "precision"
    return "fraction" if was.dtype.kind == "f" and np.array_equal(np.trunc(was), now) else "overflow"
