"""Calls whose values lie in the record of the call itself: told as they were, whatever has room."""

# SPDX-License-Identifier: MIT
import contextlib
import math
import struct
from typing import Any

import pytest

import inspector
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.core

TEXT = "a text that is longer than sixteen characters"
LETTERS = "abcdefghijklmnopq"
EDGES = (0, 1, -1, 2**30 - 1, 2**30, -(2**30), 2**59, 2**60 - 1, -(2**60 - 1))
"""Where an int gets one digit more."""


def traced(function: Any, *given: Any, **options: Any) -> tuple[Any, list[str]]:
    """The call, and the kinds of its records."""
    name = f"{getattr(function, '__module__', None) or 'builtins'}.{function.__qualname__}"
    with inspector.trace(name, copies=False, **options) as t, contextlib.suppress(Exception):
        function(*given)
    (call,) = t.calls
    return call, t.table()["kind"].tolist()


def said(value: Any) -> tuple[str, str]:
    """Type and text."""
    return value.type_name, value.text


def told(call: Any) -> tuple[list[tuple[str, str]], tuple[str, str]]:
    return [said(one) for one in call.arguments], said(call.result)


@pytest.mark.quick
@pytest.mark.parametrize(
    "given",
    [*((number, 0) for number in EDGES), *(tuple(range(2, 2 * n + 2, 2)) for n in range(13))],
    ids=str,
)
def test_any_ints_come_back_in_order(given: tuple[int, ...]) -> None:
    with inspector.trace("math.gcd") as t:
        made = math.gcd(*given)
        math.gcd(1 << 60, 5)
    call, long = t.calls
    assert told(call) == ([("int", str(one)) for one in given], ("int", str(made)))
    assert told(long) == ([("int", "an int of 3 digits"), ("int", "5")], ("int", "1"))


@pytest.mark.quick
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


NUMBERS: list[tuple[Any, tuple[Any, ...]]] = [
    (math.gcd, (12, 18)),
    (math.gcd, ()),
    (math.copysign, (1.5, -0.0)),
    (math.ldexp, (1.5, -3)),
    (math.isnan, (math.nan,)),
    (int.bit_length, (-(2**60 - 1),)),
    (int.conjugate, (True,)),
    (float.is_integer, (0.5,)),
    (math.comb, (60, 30)),
]


@pytest.mark.parametrize(("function", "given"), NUMBERS, ids=lambda one: getattr(one, "__name__", None))
def test_numbers_lie_in_the_record_of_their_call(function: Any, given: Any) -> None:
    call, kinds = traced(function, *given)
    made = function(*given)
    assert [said(one) for one in call.arguments] == [(type(one).__name__, repr(one)) for one in given]
    assert said(call.result) == (type(made).__name__, repr(made))
    assert kinds == ["METHOD"]
    assert all(isinstance(one.address, Unknown) for one in call.arguments)


@pytest.mark.parametrize("length", range(len(LETTERS) + 1))
def test_a_text_of_any_length_is_told_by_its_first_characters(length: int) -> None:
    given = LETTERS[:length]
    call, kinds = traced(str.isdigit, given)
    assert said(call.arguments[0]) == ("str", repr(given) if length <= 16 else f"{given[:16]!r}…")
    assert call.arguments[0].address == id(given)
    assert said(call.result) == ("bool", "False")
    assert kinds == ["METHOD"]


def test_a_second_text_stands_behind_the_call() -> None:
    call, kinds = traced(str.find, TEXT, "sixteen")
    assert [said(one) for one in call.arguments] == [("str", f"{TEXT[:16]!r}…"), ("str", "'sixteen'")]
    assert [one.address for one in call.arguments] == [id(TEXT), id("sixteen")]
    assert said(call.result) == ("int", str(TEXT.find("sixteen")))
    assert kinds == ["METHOD", "VALUE"]


def test_a_text_that_is_made_has_its_own_address() -> None:
    kept: list[str] = []
    with inspector.trace("builtins.str.upper", copies=False) as t:
        kept.append("small".upper())
    (call,) = t.calls
    assert (said(call.result), call.result.address) == (("str", "'SMALL'"), id(kept[0]))


@pytest.mark.parametrize("given", ["é", "x" * 4096, "\N{GREEK SMALL LETTER PI}" * 20])
def test_other_texts_are_recorded_as_ever(given: str) -> None:
    call, kinds = traced(str.isdigit, given)
    assert call.arguments[0].address == id(given)
    assert said(call.result) == ("bool", "False")
    assert kinds[:2] == ["METHOD", "VALUE"]


CONTAINERS: list[tuple[Any, Any, tuple[Any, ...], int, str]] = [
    # what is called, on what, with what; how many items it had, of which type
    (list.count, [1, 2], (1,), 2, "int"),
    (list.append, ["a"], (None,), 1, "str"),
    (list.clear, [1.0, 2.0], (), 2, "float"),
    (list.count, [], ("x",), 0, ""),
    (tuple.index, (False, "x"), ("x",), 2, "bool"),
    (dict.clear, {1: 2, 3: 4}, (), 2, ""),
    (dict.get, {"a": 1.5}, ("a",), 1, ""),
]


@pytest.mark.parametrize(("function", "owner", "given", "items", "item_type"), CONTAINERS)
def test_a_container_is_told_as_it_was_before_the_call(
    function: Any, owner: Any, given: Any, items: int, item_type: str
) -> None:
    call, _ = traced(function, owner, *given)
    told = call.arguments[0]
    assert (told.type_name, told.items, told.item_type) == (type(owner).__name__, items, item_type)
    assert told.address == id(owner)
    assert [said(one) for one in call.arguments[1:]] == [(type(one).__name__, repr(one)) for one in given]


UNFOLDED: list[tuple[Any, tuple[Any, ...], str]] = [
    (str.split, ("a b",), "list"),
    (list.pop, ([1, "text"],), "str"),
    (list.copy, ([1, 2],), "list"),
    (math.factorial, (30,), "int"),
    (math.frexp, (3.0,), "tuple"),
    (dict.copy, ({1: 2},), "dict"),
    (str.encode, ("abc",), "bytes"),
]


@pytest.mark.parametrize(
    ("function", "given", "made"), UNFOLDED, ids=lambda one: getattr(one, "__name__", None)
)
def test_a_result_without_room_leaves_the_arguments_as_they_were(
    function: Any, given: Any, made: str
) -> None:
    told = [(type(one).__name__, len(one) if isinstance(one, list | dict) else 0) for one in given]
    call, kinds = traced(function, *given)
    assert [(one.type_name, one.items) for one in call.arguments] == told
    assert call.result.type_name == made
    assert len(kinds) > 1


@pytest.mark.quick
@pytest.mark.parametrize(
    ("function", "given", "types"), [(list.index, ([1, 2], 3), ["list", "int"]), (math.sqrt, (-1,), ["int"])]
)
def test_a_call_that_fails_keeps_what_it_was_given(function: Any, given: Any, types: list[str]) -> None:
    call, _ = traced(function, *given)
    assert [one.type_name for one in call.arguments] == types
    assert call.arguments[-1].text == str(given[-1])
    assert isinstance(call.result, Unknown) and call.failed == 1
