"""A builtin function stays the key it was, in a dict or a set, while it is hooked."""

# SPDX-License-Identifier: MIT
import math
import types
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]
BLOCKS = {"trace": inspector.trace, "leaks": inspector.leaks}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_a_function_is_found_by_its_hash(block: Callable[..., AbstractContextManager[Any]]) -> None:
    before, hashed, kept = {math.gcd: "gcd"}, hash(math.gcd), set[object]()
    with block("math"):
        assert math.gcd(12, 18) == 6
        assert before[math.gcd] == "gcd" and hash(math.gcd) == hashed
        assert math.gcd == vars(math)["gcd"] and math.gcd not in (math.lcm, 3) and math.gcd != math.lcm
        kept.add(math.lcm)
    assert math.lcm in kept and hash(math.gcd) == hashed


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_bound_methods_stay_equal(block: Callable[..., AbstractContextManager[Any]]) -> None:
    array = pytest.importorskip("array").array("i", [1, 2])
    known = {array.count: 1}
    with block("array"):
        assert array.count(2) == 1
        assert known[array.count] == 1 and array.count == array.count and array.count != array.index


def test_the_types_own_slots_are_put_back() -> None:
    kind = types.BuiltinFunctionType
    before = inspector._native.read(id(kind), 400)
    with inspector.trace("math"):
        assert inspector._native.read(id(kind), 400)[8:] != before[8:]
    assert inspector._native.read(id(kind), 400)[8:] == before[8:]
