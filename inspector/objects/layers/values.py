"""Immutable values of the standard library, NumPy and pandas, and their text as their own library makes it.

A type counts by identity: a subclass may have code of a user. What a user may have made (a time zone, a
pattern that is no exact str) is looked at before the library is asked.
"""

# SPDX-License-Identifier: MIT
import re
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

from inspector import _native
from inspector.objects.classes import type_bases, type_name

MOST_BYTES: Final = 1_024
"""Of a larger value no text is made: a Decimal of a million digits takes a second."""
LONGEST: Final = 60
_TYPES: Final = {
    "datetime": ("date", "datetime", "time", "timedelta", "timezone"),
    "decimal": ("Decimal",),
    "uuid": ("UUID",),
    "numpy": (
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
        *("bool", "bool_", "float16", "float32", "float64", "longdouble", "longlong", "ulonglong"),
        *("complex64", "complex128", "clongdouble", "datetime64", "timedelta64", "str_", "bytes_"),
    ),
    "pandas": ("Timestamp", "Timedelta"),
    "torch": ("device", "dtype", "layout"),
}
_SHOWN: Final = {
    "pandas": ("Period", "Interval"),
    "pyarrow": (
        *(f"{sign}Int{bits}Scalar" for sign in ("", "U") for bits in (8, 16, 32, 64)),
        *("BooleanScalar", "FloatScalar", "DoubleScalar", "Date32Scalar", "DataType"),
    ),
}
"""Types with a text of their own that keep other objects, or memory of C++; none imports a library for it."""
_ZONES: Final = (("datetime", "timezone"), ("zoneinfo", "ZoneInfo"))
_CONSTANTS: Final = {"NaTType": "NaT", "NAType": "NA"}
"""Types of pandas with one object each -> its name."""


def is_value(kind: type) -> bool:
    """Whether its objects are immutable and keep no others, but a time its zone and a pattern its text."""
    return _is_listed(kind) or _is_constant(kind) or _is_dtype(kind) or kind is re.Pattern


def written(x: Any) -> str | None:
    """At most 60 characters of a value; None where its text may be code of a user, or long."""
    has_text = is_value(type(x)) or _is_listed(type(x), _SHOWN)
    if not has_text or sys.getsizeof(x) > MOST_BYTES or not _has_known_parts(x):
        return None
    text = str(x)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _is_listed(kind: type, types: Mapping[str, tuple[str, ...]] = _TYPES) -> bool:
    name = type_name(kind)
    return any(name in names and _named(library, name) is kind for library, names in types.items())


def _is_constant(kind: type) -> bool:
    name = _CONSTANTS.get(type_name(kind))
    return name is not None and type(_named("pandas", name)) is kind


def _is_dtype(kind: type) -> bool:
    base = _named("numpy", "dtype")
    return base is not None and any(above is base for above in type_bases(kind))


def _named(library: str, name: str) -> Any:
    """What an imported library calls so; its `__getattr__` is not asked."""
    module = sys.modules.get(library)
    return vars(module).get(name) if type(module) is ModuleType else None


def _has_known_parts(x: Any) -> bool:
    """Whether no part of it is of a type that a user may have written."""
    kind = type(x)
    if kind is re.Pattern:
        return _native.exactly(x.pattern, str, bytes)
    if _is_dtype(kind):
        return all(one.metadata is None for one in (x, *(field[0] for field in (x.fields or {}).values())))
    if type_name(kind) == "Interval":
        return all(_native.exactly(end, int, float) or _is_listed(type(end)) for end in (x.left, x.right))
    zone = x.tzinfo if type_name(kind) in ("datetime", "time", "Timestamp") else None
    return zone is None or any(type(zone) is _named(*known) for known in _ZONES)
