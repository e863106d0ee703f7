"""`check_lazy(provider)`: check every clause of a lazy vector's contract, with evidence."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from inspector._native import LazyVector
from inspector.facts.lazy import LazyClause, LazyContract
from inspector.facts.unknown import Unknown
from inspector.lazy import pickling, recipes
from inspector.lazy.trial import COMPARED, Broken, Trial, same, told, trial_of


class Unasked(Exception):
    """A clause that does not apply to this provider."""


def check_lazy(provider: Any, make: Callable[[int], Any] | None = None) -> LazyContract:
    """Check the contract of a lazy provider: a `lazy.Vector`, any object with length, dtype, elt and
    get_region, or a provider of lazy.h (address, cffi pointer, capsule).

    `make(n)`, if given, creates one of length n: then 0, 1 and one more than a block are checked too.
    A lazy.Vector is materialized as a duplicate and itself unchanged; any other provider is materialized.
    Elements are read at every border; materialized data is compared up to 4 million elements.
    """
    kind = type(provider)
    if kind is int or kind.__name__ == "PyCapsule" or kind.__module__ == "_cffi_backend":
        provider = recipes.wrap(provider)
    trial = trial_of(provider)
    clauses = _clauses(trial)
    for length in (0, 1, trial.block + 1) if make is not None else ():
        clauses.append(_made(make, length))  # type: ignore[arg-type]
    return LazyContract(type(provider).__name__, trial.dtype.name, trial.length, tuple(clauses))


def _made(make: Callable[[int], Any], length: int) -> LazyClause:
    """One clause for all clauses of a provider of another length."""
    broken = [clause for clause in _clauses(trial_of(make(length))) if clause.holds is False]
    shown = "; ".join(f"{clause.name}: {clause.evidence}" for clause in broken)
    return LazyClause(f"all clauses at length {length}", not broken, shown or "hold")


def _clauses(trial: Trial) -> list[LazyClause]:
    found = [_judged(name, judge, trial) for name, judge in WHILE_LAZY.items()]
    before = _elements(trial)
    try:
        ready, whole = _materialized(trial)
    except Broken as broken:
        return [*found, LazyClause("dataptr computes all", False, str(broken))]
    except Exception as error:
        return [*found, LazyClause("dataptr computes all", False, told(error))]
    return found + [
        _judged(name, partial(judge, ready, whole), before) for name, judge in MATERIALIZED.items()
    ]


def _judged(name: str, judge: Callable[[Any], str], about: Any) -> LazyClause:
    try:
        return LazyClause(name, True, judge(about))
    except Broken as broken:
        return LazyClause(name, False, str(broken))
    except Unasked as missing:
        return LazyClause(name, Unknown(str(missing)), "")
    except Exception as error:  # raised by the provider: then the clause does not hold
        return LazyClause(name, False, told(error))


def _lazy_before(trial: Trial) -> None:
    if trial.is_materialized:
        raise Unasked("already materialized when it came")


def _length(trial: Trial) -> str:
    if hasattr(type(trial.provider), "__len__") and len(trial.provider) != trial.length:
        raise Broken(f"len() is {len(trial.provider)}, length {trial.length}")
    if trial_of(trial.provider).length != trial.length:
        raise Broken("length is another the second time")
    return f"{trial.length} elements"


def _elt(trial: Trial) -> str:
    if not trial.has_elt:
        raise Unasked("no elt")
    for i in trial.positions():
        if not same(trial.elt(i), trial.elt(i)):
            raise Broken(f"elt({i}) is another the second time")
    return f"{len(trial.positions())} borders, twice"


def _elt_is_lazy(trial: Trial) -> str:
    _lazy_before(trial)
    for i in trial.positions() if trial.has_elt else ():
        try:
            trial.elt(i)
        except Broken:
            continue  # reported by its own clause
        if trial.is_materialized:
            raise Broken(f"elt({i}) materialized the vector")
    return "still lazy"


def _region_is_lazy(trial: Trial) -> str:
    if not trial.has_region:
        raise Unasked("no get_region")
    _lazy_before(trial)
    for start, asked in trial.regions():
        try:
            trial.region(start, asked)
        except Broken as broken:
            if "own elements" in str(broken):
                raise
        if trial.is_materialized:
            raise Broken(f"get_region({start}, {asked}, out) materialized the vector")
    return "still lazy"


def _region_count(trial: Trial) -> str:
    if not trial.has_region:
        raise Unasked("no get_region")
    for start, asked in trial.regions():
        answer, count = trial.region(start, asked)[0], min(asked, trial.length - start)
        if answer != count or isinstance(answer, bool):
            raise Broken(f"get_region({start}, {asked}, out) returned {answer!r:.20}, not {count}")
    return "min(n, length - i)"


def _region_fills(trial: Trial) -> str:
    if not trial.has_region:
        raise Unasked("no get_region")
    for start, asked in trial.regions():
        trial.filled(start, asked)
    return f"{len(trial.regions())} regions, past the end too"


def _elt_and_region(trial: Trial) -> str:
    if not (trial.has_elt and trial.has_region):
        raise Unasked("only one of elt and get_region")
    for i in trial.positions():
        if not same(trial.elt(i), trial.filled(i, 1)):
            raise Broken(
                f"elt({i}) is {trial.elt(i)[0]}, get_region({i}, 1, out) wrote {trial.filled(i, 1)[0]}"
            )
    return f"equal at {len(trial.positions())} borders"


def _regions_agree(trial: Trial) -> str:
    if not trial.has_region:
        raise Unasked("no get_region")
    for start, asked in trial.regions():
        whole = trial.filled(start, asked)
        half = len(whole) // 2
        parts = [trial.filled(start, half)] * (half > 0) + [trial.filled(start + half, len(whole) - half)]
        if not same(whole, np.concatenate(parts)):
            raise Broken(f"get_region({start}, {asked}, out) differs from the same region in two halves")
    return "the same in halves"


def _last_block(trial: Trial) -> str:
    if not trial.has_region or not trial.length:
        raise Unasked("no get_region" if trial.length else "length 0")
    start = (trial.length - 1) // trial.block * trial.block
    return f"{len(trial.filled(start, trial.block))} elements at {start}"


def _empty(trial: Trial) -> str:
    if not trial.has_region:
        raise Unasked("no get_region")
    for start, asked in {(trial.length, 5), (0, 0)}:
        answer, out = trial.region(start, asked)
        if answer != 0 or (out.view(np.uint8) != 0xA5).any():
            raise Broken(f"get_region({start}, {asked}, out) is not 0 elements: returned {answer!r:.20}")
    return "0 elements at the end"


def _out_is_given_back(trial: Trial) -> str:
    if not trial.has_region or not trial.length:
        raise Unasked("no get_region" if trial.length else "length 0")
    out = np.empty(1, trial.dtype)
    before = sys.getrefcount(out)
    trial.provider.get_region(0, 1, out)
    if sys.getrefcount(out) > before:
        raise Broken("get_region keeps a reference to out")
    return "out is not kept"


WHILE_LAZY: dict[str, Callable[[Trial], str]] = {
    "length": _length,
    "elt never materializes": _elt_is_lazy,
    "get_region never materializes": _region_is_lazy,
    "elt": _elt,
    "get_region returns count": _region_count,
    "get_region fills out": _region_fills,
    "elt equals get_region": _elt_and_region,
    "regions agree": _regions_agree,
    "last partial block": _last_block,
    "length 0 and the end": _empty,
    "out is given back": _out_is_given_back,
}


def _elements(trial: Trial) -> dict[int, Any]:
    """The single elements, read while lazy."""
    found: dict[int, Any] = {}
    for i in trial.positions():
        try:
            found[i] = trial.elt(i) if trial.has_elt else trial.filled(i, 1)
        except Broken:
            continue  # reported by its own clause
    return found


def _materialized(trial: Trial) -> tuple[Trial, Any]:
    ready = trial
    if isinstance(trial.provider, LazyVector):
        ready = trial_of(pickling.again(trial.provider))
    elif not callable(getattr(trial.provider, "dataptr", None)):
        raise Unasked("no dataptr")
    return ready, ready.everything()


def _elements_equal(ready: Trial, whole: Any, before: dict[int, Any]) -> str:
    if whole.shape != (ready.length,) or whole.dtype != ready.dtype:
        raise Broken(f"data2 is {whole.dtype} {whole.shape}, not {ready.dtype} ({ready.length},)")
    for i, element in before.items():
        if not same(element, whole[i : i + 1]):
            raise Broken(f"element {i} was {element[0]} while lazy, and is {whole[i]} in the data")
    return f"equal at {len(before)} borders"


def _blocks_equal(ready: Trial, whole: Any, before: dict[int, Any]) -> str:
    if not ready.has_region:
        raise Unasked("no get_region")
    for start in range(0, min(ready.length, COMPARED), ready.block):
        there = ready.filled(start, ready.block)
        if not same(there, whole[start : start + len(there)]):
            raise Broken(f"block at {start}: get_region differs from the data")
    return f"{min(ready.length, COMPARED)} elements, block by block"


def _elt_after(ready: Trial, whole: Any, before: dict[int, Any]) -> str:
    if not ready.has_elt:
        raise Unasked("no elt")
    for i in ready.positions():
        if not same(ready.elt(i), whole[i : i + 1]):
            raise Broken(f"elt({i}) is {ready.elt(i)[0]} after materialization, the data has {whole[i]}")
    return "elt as before"


def _dataptr_once(ready: Trial, whole: Any, before: dict[int, Any]) -> str:
    ask = getattr(ready.provider, "dataptr_or_null", None)
    if ask is None:
        raise Unasked("no dataptr_or_null")
    if ask() is None:
        raise Broken("dataptr_or_null() is None after dataptr()")
    first, second = ready.provider.dataptr(), ready.provider.dataptr()
    if (first != second) if type(first) is int else (first is not second):
        raise Broken("dataptr() gives another address the second time")
    return "one address"


def _summaries(ready: Trial, whole: Any, before: dict[int, Any]) -> str:
    truths: dict[str, Callable[[], Any]] = {
        "sum": lambda: whole.sum(dtype=np.float64 if whole.dtype.kind == "f" else None),
        "min": lambda: whole.min() if len(whole) else None,
        "max": lambda: whole.max() if len(whole) else None,
        "is_sorted": lambda: bool((np.sort(whole) == whole).all() or same(np.sort(whole), whole)),
        "no_na": lambda: not (whole.dtype.kind == "f" and np.isnan(whole).any()),
    }
    asked = []
    for name, truth in truths.items():
        hook, value = getattr(ready.provider, name, None), truth() if len(whole) <= COMPARED else None
        if callable(hook) and value is not None:
            answer = hook()
            if not np.isclose(answer, value, rtol=1e-9, atol=0, equal_nan=True):
                raise Broken(f"{name}() is {answer}, of the data it is {value}")
            asked.append(name)
    if not asked:
        raise Unasked("no summaries, or more than 4 million elements")
    return ", ".join(asked)


MATERIALIZED: dict[str, Callable[[Trial, Any, dict[int, Any]], str]] = {
    "data equals elements": _elements_equal,
    "data equals get_region": _blocks_equal,
    "elt after materialization": _elt_after,
    "dataptr once": _dataptr_once,
    "summaries": _summaries,
}
