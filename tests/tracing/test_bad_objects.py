"""A trace runs no code of the objects that statements name, nor of their classes and metaclasses."""

# SPDX-License-Identifier: MIT
import bad_objects
import pytest

import inspector
from inspector.tracing.record import r_compared

pytestmark = pytest.mark.core


def statements(x: object) -> object:
    """Statements that run no code of `x` themselves."""
    same = x
    several = [x, same]
    named = {"x": x}
    pair = (x, 1)
    several[0] = x
    named["again"] = x
    first, second = pair
    for one in (x, x):
        last = one
    many = [x for _ in range(2)]
    some = (lambda given: given)(x)
    del first
    return several, named, last, many, some, second


CASES = [name for name in bad_objects.CASES if "Half" not in name]
"""A tuple that C code still fills ends any Python code that reads its items."""


@pytest.mark.parametrize("name", CASES)
def test_statements_that_name_a_bad_object_run_none_of_its_code(name: str) -> None:
    """The statement watch and the report, with and without `--all`."""
    try:
        x = bad_objects.CASES[name]()
    except bad_objects.NotHere as reason:
        pytest.skip(str(reason))
    bad_objects.reset()
    with inspector.trace() as traced:
        statements(x)
    text = str(traced)
    called, acted = dict(bad_objects.CALLS), list(bad_objects.SIDE_EFFECTS)
    bad_objects.reset()
    assert (called, acted) == ({}, [])
    assert text


@pytest.mark.parametrize("name", CASES)
def test_what_crosses_between_R_and_python_is_not_asked_either(name: str) -> None:
    """Nor are their classes: a set of them would run a metaclass's __hash__."""
    try:
        x = bad_objects.CASES[name]()
    except bad_objects.NotHere as reason:
        pytest.skip(str(reason))
    bad_objects.reset()
    sides = [r_compared.python_side(one) for one in (x, [x, 1.5], (x,), {"a": x})]
    numbers = r_compared.numbers([x, 1.5])
    called, acted = dict(bad_objects.CALLS), list(bad_objects.SIDE_EFFECTS)
    bad_objects.reset()
    assert (called, acted) == ({}, [])
    assert [side.length for side in sides[1:]] == [2, 1, 1] and (numbers is None or type(x) is int)
