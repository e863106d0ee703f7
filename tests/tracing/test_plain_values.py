"""Numbers, truths and None of a call: packed four to a record, and read back as they were."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import math
import struct
from typing import Any

import pytest

import inspector
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]

EDGES = (0, 1, -1, 2**30 - 1, 2**30, -(2**30), 2**59, 2**60 - 1, -(2**60 - 1))
"""Where an int gets one digit more."""


def told(call: Any) -> tuple[list[tuple[Any, str]], tuple[Any, str]]:
    """(type and text of each argument, the same of the result)."""
    return [(one.type_name, one.text) for one in call.arguments], (call.result.type_name, call.result.text)


@pytest.mark.parametrize("number", EDGES)
def test_an_int_is_read_as_it_is(number: int) -> None:
    with inspector.trace("math.gcd") as t:
        made = math.gcd(number, 0)
    (call,) = t.calls
    assert told(call) == ([("int", str(number)), ("int", "0")], ("int", str(made)))


def test_an_int_of_more_digits_says_how_many() -> None:
    with inspector.trace("math.gcd") as t:
        math.gcd(1 << 60, 5)
    (call,) = t.calls
    assert told(call) == ([("int", "an int of 3 digits"), ("int", "5")], ("int", "1"))


@pytest.mark.parametrize("count", range(13))
def test_any_number_of_arguments_comes_back_in_order(count: int) -> None:
    numbers = [2 * number + 2 for number in range(count)]
    with inspector.trace("math.gcd") as t:
        made = math.gcd(*numbers)
    (call,) = t.calls
    assert told(call) == ([("int", str(one)) for one in numbers], ("int", str(made)))


def test_truths_floats_and_none_among_other_objects() -> None:
    with inspector.trace("_struct") as t:
        packed = struct.Struct("<?dq").pack(True, -0.5, 7)
        struct.pack_into("<q", bytearray(8), 0, -3)
    pack, into = (call for call in t.calls if call.name.rpartition(".")[2] in ("pack", "pack_into"))
    assert told(pack)[0][1:] == [("bool", "True"), ("float", "-0.5"), ("int", "7")]
    assert pack.result.type_name == "bytes"
    assert pack.result.spans[0].logical_bytes == len(packed)
    assert [text for _, text in told(into)[0][2:]] == ["0", "-3"]
    assert told(into)[1] == ("NoneType", "None")


def test_a_call_that_fails_keeps_what_it_was_given() -> None:
    with inspector.trace("math.sqrt") as t, pytest.raises(ValueError):
        math.sqrt(-1)
    (call,) = t.calls
    assert [one.text for one in call.arguments] == ["-1"]
    assert isinstance(call.result, Unknown)
    assert call.failed == 1


def test_no_address_is_said_of_a_number() -> None:
    with inspector.trace("math.sqrt") as t:
        math.sqrt(4.0)
    (call,) = t.calls
    assert isinstance(call.arguments[0].address, Unknown)


def test_two_numbers_and_their_result_are_one_record() -> None:
    with inspector.trace("math.gcd", copies=False) as t:
        math.gcd(12, 18)
    assert t.table()["kind"].tolist() == ["METHOD"]
