"""Nanoseconds that Python's datetime has no room for: `x.dt.to_pydatetime()`, `to_list()` of polars."""

# SPDX-License-Identifier: MIT
import datetime
import re
import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, Final

from inspector import _native
from inspector.adapters import columns
from inspector.facts.conversion import Loss
from inspector.facts.statements import Written
from inspector.sessions.statements import values
from inspector.sessions.statements.converted import loss_of

_GIVES: Final = re.compile(r"\b(to_pydatetime|to_list|tolist|to_pylist|to_numpy|astype|list)\(")
_MICROSECOND: Final = 1000


def cut(written: Written, operands: Mapping[str, Any], new: list[Any], frame: FrameType) -> Iterator[Loss]:
    """At most one: times of an operand in what the statement made of it."""
    given = _GIVES.search(written.text)
    np: Any = sys.modules.get("numpy")
    if given is None or np is None or len(new) != 1:
        return
    for name in operands:
        times = _times(values.named(frame, name), np)
        some = () if times is None else _objects(new[0], len(times), np)
        if some and (found := _lost(times, some, np)) is not None:
            yield loss_of(written, given[1], found, len(times))
            return


def _times(found: tuple[Any, ...], np: Any) -> Any:
    """The times of a single column in nanoseconds; None for anything else."""
    if not found:
        return None
    held = found[0]
    if type(held) is not np.ndarray:
        held = columns.only(held)
    is_fine = held is not None and held.dtype.kind == "M" and np.datetime_data(held.dtype) == ("ns", 1)
    return held if is_fine and held.ndim == 1 and held.size else None


def _objects(made: Any, count: int, np: Any) -> list[Any]:
    """Every nth of as many datetimes; [] where they are something else."""
    is_array = type(made) is np.ndarray and made.dtype.kind == "O" and made.ndim == 1
    held = columns.objects(made) if not is_array and type(made) is not list else made
    if held is None or len(held) != count:
        return []
    some = list(held[:: columns.step_of(count)])
    return some if all(_native.exactly(one, datetime.datetime) for one in some) else []


def _lost(times: Any, some: list[Any], np: Any) -> columns.Cast | None:
    if any(one.tzinfo is not None for one in some):
        return None
    step = columns.step_of(len(times))
    had, has = times[::step], np.array(some, "M8[us]").astype("M8[ns]")
    left = (had - has).astype("i8")
    lost = left.nonzero()[0]
    if not len(lost) or not ((left >= 0) & (left < _MICROSECOND)).all():
        return None
    first = int(lost[0])
    told = (str(had[first]), str(np.datetime64(some[first])), first * step, len(lost))
    return columns.Cast("fraction", told, len(some), 0.0)
