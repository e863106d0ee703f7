"""The true count, however the call is written: a difference between two ways of calling is a lie."""

# SPDX-License-Identifier: MIT
import contextlib
import functools
import sys

import pytest

import inspector
from inspector import refcount

pytestmark = [pytest.mark.core, pytest.mark.quick]


def counts(x: object) -> list[int]:
    """One count for each way of calling that holds nothing itself."""
    return [
        refcount(x),
        refcount(x=x),
        inspector.refcount(x),
        (lambda: refcount(x))(),
        [refcount(x) for _ in (1,)][0],  # noqa: RUF015
        max(refcount(x), 0),
        {"k": refcount(x)}["k"],
        functools.partial(refcount)(x),
        functools.partial(refcount)(x=x),
        functools.lru_cache(maxsize=None)(lambda: refcount(x))(),
    ]


def test_every_way_of_calling_gives_one_count() -> None:
    assert len(set(counts(object()))) == 1


def test_the_count_is_what_was_planted() -> None:
    alone = object()
    assert refcount(alone) == 1
    kept = [alone] * 7
    assert refcount(alone) == 1 + len(kept)
    del kept
    held = functools.partial(refcount, alone)
    assert held() == 2, "the partial object holds one"


def test_an_unnamed_object_has_no_reference() -> None:
    count = refcount(object())
    assert count == 0


@pytest.mark.skipif(
    sys.version_info < (3, 12), reason="not on CPython 3.11: immortal objects came with 3.12 (PEP 683)"
)
def test_an_immortal_has_no_count() -> None:
    assert refcount(None) is inspector.Immortal


def test_inspect_and_owners_say_the_same_count() -> None:
    alone = object()
    kept = [alone]
    assert inspector.inspect(alone).refs.references == 2
    assert inspector.owners(alone).references == 2
    assert functools.partial(inspector.inspect)(alone).refs.references == 2
    del kept


def awkward(x: object) -> list[int]:
    """The call by way of C, with other things on the stack: in a handler, a with, a loop, a nested call."""
    by_c = functools.partial(refcount)
    found = [by_c(x), max(0, by_c(x), -1), [0, (1, by_c(x))][1][1], len(str([x, x])) * 0 + by_c(x)]
    try:
        raise ValueError
    except ValueError:
        found.append(by_c(x))
    with contextlib.suppress(KeyError):
        found += [by_c(x) for _ in range(2)]
    found += list(by_c(x) for _ in range(2))  # noqa: C400
    found.append(by_c(x) if found else 0)
    found += [f"{by_c(x)}" and by_c(x), by_c(x=x), -by_c(x) * -1]
    return found


def test_it_stays_true_with_other_things_on_the_stack() -> None:
    x = object()
    here = refcount(x)
    assert awkward(x) == [here + 1] * 13, "the parameter x of awkward holds one"
