"""Answers about two real objects: what they say, and that each index map is true at random indices."""

# SPDX-License-Identifier: MIT
import copy
import io
import random
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided, sliding_window_view
from soak import rounds

import inspector
from inspector.facts.answers import Answer
from inspector.facts.comparison import Comparison, Side, Values
from inspector.facts.sharing import PartSharing, Sharing
from inspector.facts.unknown import Address, Unknown
from inspector.verdicts.pairs.answers import answers as conclude

pytestmark = pytest.mark.core
MAP = re.compile(r"`(b\[.*?\])` is `(.*?)`(?:, read as \w+)?\.")


def answers(a: Any, b: Any) -> dict[str, Answer]:
    """Slug -> answer for the names `a` and `b`."""
    return {row.slug: row for row in inspector.compare(a, b, names=("a", "b")).answers}


def first(a: Any, b: Any) -> str:
    return inspector.compare(a, b, names=("a", "b")).answers[0].text


def proved(a: Any, b: Any, row: Answer) -> None:
    """Evaluate both sides of `b[i, j]` is `a[...]` at random indices: the bytes of both are the same bytes.

    `a` holds different values everywhere, so that equal values are the same place.
    """
    found = MAP.fullmatch(row.text)
    assert found, row.text
    view, owner = found[1], found[2]
    letters = re.findall(r"\b[ijklmnpqr]\b", view)
    order = random.Random(0)
    for _ in range(20):
        chosen = {name: order.randrange(length) for name, length in zip(letters, b.shape, strict=True)}
        left, right = (np.asarray(eval(code, {"a": a, "b": b, **chosen})) for code in (view, owner))
        assert left.tobytes() == right.tobytes(), (row.text, chosen)


def distinct(*shape: int, dtype: str = "f8") -> Any:
    """An array that owns bytes, all elements of which differ."""
    made = np.empty(shape, dtype)
    made.reshape(-1)[...] = np.arange(made.size) + 1
    return made


CASES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], str]] = {
    "transposed": (lambda: distinct(30, 40), lambda a: a[::2, ::3].T, "`b[i, j]` is `a[2*j, 3*i]`."),
    "reversed": (lambda: distinct(10), lambda a: a[::-1], "`b[i]` is `a[9 - i]`."),
    "reversed steps": (lambda: distinct(10), lambda a: a[7:1:-2], "`b[i]` is `a[7 - 2*i]`."),
    "one row": (lambda: distinct(5, 6), lambda a: a[3], "`b[i]` is `a[3, i]`."),
    "one column": (lambda: distinct(5, 6), lambda a: a[:, 4], "`b[i]` is `a[i, 4]`."),
    "one element": (lambda: distinct(5, 6), lambda a: a[2:3, 4:5], "`b[i, j]` is `a[2, 4]`."),
    "no axis": (lambda: distinct(5), lambda a: a[3, ...], "`b[()]` is `a[3]`."),
    "newaxis": (lambda: distinct(5), lambda a: a[:, None], "`b[i, j]` is `a[i]`."),
    "broadcast": (lambda: distinct(5), lambda a: np.broadcast_to(a, (3, 5)), "`b[i, j]` is `a[j]`."),
    "windows": (lambda: distinct(9), lambda a: sliding_window_view(a, 4), "`b[i, j]` is `a[i + j]`."),
    "windows back": (
        lambda: distinct(9),
        lambda a: sliding_window_view(a[::-1], 4),
        "`b[i, j]` is `a[8 - i - j]`.",
    ),
    "diagonal": (lambda: distinct(5, 5), lambda a: a.diagonal(), "`b[i]` is `a[i, i]`."),
    "antidiagonal": (lambda: distinct(5, 5), lambda a: a[:, ::-1].diagonal(), "`b[i]` is `a[i, 4 - i]`."),
    "flattened": (lambda: distinct(5, 6), lambda a: a.reshape(-1), "`b[i]` is `a[i // 6, i % 6]`."),
    "folded": (lambda: distinct(12), lambda a: a.reshape(3, 4), "`b[i, j]` is `a[4*i + j]`."),
    "refolded": (
        lambda: distinct(6, 4),
        lambda a: a.reshape(3, 8),
        "`b[i, j]` is `a.reshape(-1)[8*i + j]`.",
    ),
    "Fortran": (
        lambda: np.asfortranarray(distinct(4, 5)),
        lambda a: a[1:, ::2],
        "`b[i, j]` is `a[i + 1, 2*j]`.",
    ),
    "integers": (lambda: distinct(5), lambda a: a.view("i8"), "`b[i]` is `a[i]`, read as int64."),
    "three axes": (
        lambda: distinct(4, 5, 6),
        lambda a: a.transpose(2, 0, 1)[::2, 1:, ::-1],
        "`b[i, j, k]` is `a[j + 1, 4 - k, 2*i]`.",
    ),
}


@pytest.mark.quick
@pytest.mark.parametrize("case", CASES)
def test_an_index_map_is_said_and_true(case: str) -> None:
    make, view, text = CASES[case]
    a = make()
    b = view(a)
    row = answers(a, b)["index-map"]
    assert row.text == text
    proved(a, b, row)


steps = st.sampled_from([-3, -2, -1, 1, 2, 3])
slices = st.builds(slice, st.none() | st.integers(-9, 9), st.none() | st.integers(-9, 9), steps)


@given(st.lists(slices, min_size=3, max_size=3), st.permutations(range(3)), st.integers(0, 5), st.randoms())
@settings(max_examples=rounds(60, 2000), deadline=None)
def test_index_maps_of_random_views_are_true(cut: Any, axes: Any, fold: int, order: random.Random) -> None:
    """Slices, transposes, new axes, broadcasts, windows and reshapes of one array, one after the other."""
    a = distinct(6, 7, 8)
    b = a[tuple(cut)].transpose(axes)
    if fold == 1:
        b = b[:, None]
    elif fold == 2:
        b = np.broadcast_to(b, (2, *b.shape))
    elif fold == 3 and b.shape[0] > 1:
        b = sliding_window_view(b, 2, axis=0)
    elif fold == 4:
        b = a.reshape(order.choice([(42, 8), (6, 56), (336,), (2, 3, 7, 8), (8, 42)]))
    elif fold == 5 and b.ndim == 3:
        b = b[order.randrange(b.shape[0])] if b.shape[0] else b
    found = answers(a, b)
    if not b.size:
        assert "index-map" not in found
        return
    assert "view-of" in found
    proved(a, b, found["index-map"])


@given(st.integers(1, 12), st.integers(1, 12), st.integers(-8, 8), st.integers(-8, 8))
@settings(max_examples=rounds(60, 2000), deadline=None)
def test_index_maps_of_any_strides_are_true(n: int, m: int, s: int, t: int) -> None:
    a = distinct(9, 11)
    low = sum(min(0, (length - 1) * step) for length, step in ((n, s), (m, t)))
    high = sum(max(0, (length - 1) * step) for length, step in ((n, s), (m, t)))
    if low < -49 or high > 49:
        return
    b = as_strided(a[4, 5:], (n, m), (8 * s, 8 * t))
    proved(a, b, answers(a, b)["index-map"])


@given(st.lists(slices, min_size=2, max_size=2), st.lists(slices, min_size=2, max_size=2), st.booleans())
@settings(max_examples=rounds(100, 2000), deadline=None)
def test_index_maps_of_two_views_are_true_where_both_have_the_element(one: Any, two: Any, turn: bool) -> None:
    x = distinct(9, 8)
    a, b = x[tuple(one)], (x[tuple(two)].T if turn else x[tuple(two)])
    row = answers(a, b).get("index-map")
    if row is None:
        return
    assert np.shares_memory(a, b)
    found = re.fullmatch(r"`([ab])\[(.*?)\]` is `([ab])\[(.*?)\]`(, where both have it)?\.", row.text)
    assert found, row.text
    view, owner = {"a": a, "b": b}[found[1]], {"a": a, "b": b}[found[3]]
    for index in np.ndindex(view.shape):
        chosen = dict(zip(found[2].split(", "), index, strict=True))
        place = eval(f"({found[4]},)", dict(chosen))
        if all(0 <= n < length for n, length in zip(place, owner.shape, strict=True)):
            assert view[index] == owner[place], row.text
        else:
            assert found[5], row.text
    assert "index-map" not in answers(x[::2], x[1::2])


def test_a_shifted_view_is_said_where_both_have_the_element() -> None:
    x = distinct(10, 3)
    assert answers(x[:6], x[4:])["index-map"].text == "`b[i, j]` is `a[i + 4, j]`, where both have it."


@pytest.mark.quick
def test_fields_and_halves_of_elements() -> None:
    a = np.zeros(5, dtype=[("x", "f8"), ("y", "i4")])
    a["x"], a["y"] = np.arange(5), np.arange(5) + 9
    for b, text in ((a["y"], '`b[i]` is `a[i]["y"]`.'), (a["x"][::2], '`b[i]` is `a[2*i]["x"]`.')):
        row = answers(a, b)["index-map"]
        assert row.text == text
        proved(a, b, row)
    z = np.arange(6) + 1j * np.arange(6, 12)
    for b, text in ((z.real, "`b[i]` is `a[i].real`."), (z.imag[::-1], "`b[i]` is `a[5 - i].imag`.")):
        row = answers(z, b)["index-map"]
        assert row.text == text
        proved(z, b, row)


@pytest.mark.quick
def test_bytes_of_elements_of_another_size() -> None:
    a = distinct(5)
    assert answers(a, a.view("u1"))["index-map"].text == "`b[i]` is byte `i` of `a`."
    assert answers(a, a.view("u1")[3::2])["index-map"].text == "`b[i]` is byte `2*i + 3` of `a`."
    assert answers(a, a.view("f4"))["index-map"].text == "`b[i]` begins at byte `4*i` of `a`."
    small = np.arange(16, dtype="u1")
    wide = small[4:12].view("i4")
    assert answers(small, wide)["index-map"].text == "`b[i]` begins at byte `4*i + 4` of `a`."


@pytest.mark.quick
def test_who_is_a_view_of_whom() -> None:
    a = distinct(100, 100)
    b = a[::2, ::3].T
    both = "`b` is a view of `a`. 14 kB belong to both; a write through one is seen in the other."
    assert first(a, b) == both
    assert first(b, a).startswith("`a` is a view of `b`.")  # whichever is named first
    assert first(a, a) == "The same object: `a` and `b` are two names of one ndarray."
    assert first(a[1:], a[:2]).startswith("Both are views of `a`. 800 B belong to both")
    hidden = [distinct(10)]
    one, other = hidden[0][:6], hidden.pop()[4:]
    said = first(one, other)
    assert said.startswith("Both are views of one ndarray that no name holds. 16 B belong to both")
    named = inspector.compare(a[1:], a[:2], names=("c", "d"), known={id(a): "a"}).answers[0].text
    assert named.startswith("Both are views of `a`.")
    space = {"inspector": inspector, "prices": a}
    said = eval("inspector.compare(prices[1:], prices[:2])", space).answers[0].text
    assert said.startswith("Both are views of `prices`."), "the names of the caller's module are known"


@pytest.mark.quick
def test_what_a_write_does() -> None:
    a = distinct(10)
    b = a[:]
    b.flags.writeable = False
    said = "`b` is a view of `a`. All 80 B belong to both; writing to `a` changes `b`, and `b` is read-only."
    assert first(a, b) == said
    c = b[:]
    assert "both are read-only" in first(b, c)
    content = bytearray(b"abcdef")
    assert "a write through one is seen in the other" in first(content, memoryview(content)[2:])


@pytest.mark.quick
def test_no_byte_in_common() -> None:
    a = distinct(30, 40)
    flat = first(a, a.T.reshape(-1))
    assert flat == (
        "No byte in common: `b` is a copy: `a.T` flattened, equal values. "
        "`a.T` is not contiguous, so flattening it copies 9.6 kB."
    )
    assert first(a, a.T.copy()) == "No byte in common: `b` is a copy of `a.T`, equal values."
    assert first(a, a.copy()) == "No byte in common; equal values."
    between = first(a[::2], a[1::2])
    assert between == (
        "Both are views of `a`, with no byte in common; different values: first at `[0, 0]`, 1.0 and 41.0."
    )
    changed = a.copy()
    changed[3, 7] = -1
    assert first(a, changed) == "No byte in common; different values: first at `[3, 7]`, 128.0 and -1.0."
    assert first(a, a.astype("f4")) == "No byte in common; equal values, as float64 and as float32."
    assert first(a, a[:3].copy()) == "No byte in common; `a` has 1,200 elements, `b` 120."
    nothing = np.array([0.0, np.nan])
    assert first(nothing, -nothing) == "No byte in common; equal values."
    assert first(np.zeros((2, 3)), np.zeros(6)) == "No byte in common; equal values."


@pytest.mark.quick
def test_large_values_are_compared_by_sample_and_it_is_said() -> None:
    a = np.arange(2_000_000.0)
    row = answers(a, a.copy())["equal-values"]
    assert row.text == "No byte in common; equal values in a sample of 1,000 of 2,000,000."
    assert not row.certain


@pytest.mark.quick
def test_nothing_is_said_of_what_is_not_known() -> None:
    a = distinct(5)
    assert first(a, object()) == "Whether they share bytes is not known: object lays no bytes open."
    assert first([a], {1: a}) == "A list and a dict; `a[0]` is in both: a change of it is seen in both."
    drawn = str(inspector.Report("x", {"comparison": inspector.compare(a, {1}, names=("a", "b"))}))
    assert "set lays no bytes open" in drawn and "looked at  40 B" in drawn


@pytest.mark.quick
def test_a_probe_that_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.objects.probes.pair.laid", lambda subject: 1 / 0)
    assert first([1], [2]) == "What they share is not known: the probe failed with ZeroDivisionError."


@pytest.mark.quick
def test_names_are_those_of_the_call() -> None:
    prices = distinct(10)
    found = inspector.compare(prices, prices[::2])
    assert found.answers[0].text.startswith("`prices[::2]` is a view of `prices`.")
    assert found.answers[1].text == "`prices[::2][i]` is `prices[2*i]`."
    assert repr(found).startswith("<Comparison of prices and prices[::2]: prices[::2] is a view of prices.")


@pytest.mark.quick
def test_the_first_screen_begins_with_the_answer() -> None:
    a = distinct(30, 40)
    report = inspector.Report("a b", {"comparison": inspector.compare(a, a[::2], names=("a", "b"))})
    lines = report.to_text().splitlines()
    assert lines[0].startswith(" b is a view of a. 4.8 kB belong to both") and len(lines) <= 8
    assert "b[i, j] is a[2*i, j]." in lines[2]
    assert [line.split()[0] for line in lines[3:5]] == ["a", "b"] and lines[3].endswith("owner")
    assert "█" * 40 in lines[3] and "█▒▒█ ▒▒ " * 4 in lines[4], "on one ruler, every second row"
    assert lines[-1].split()[:4] == ["more", *lines[-1].split()[1:4]] and lines[-1].endswith("--fields")
    assert "strides_bytes" not in report.to_text()
    assert "strides_bytes" in str(report.drawn(everything=True))
    page = report.to_html()
    first, place = page.index("is a view of"), page.index("<table")
    assert first < place and page.index(">b[i, j]</code>") < place
    assert page.count("<details>") == 1, "the fields are folded"
    wire = report.to_wire()["facts"]["comparison"]["answers"]
    assert [row["slug"] for row in wire] == ["view-of", "index-map"] and all(row["certain"] for row in wire)


@pytest.mark.quick
def test_rules_take_facts_alone() -> None:
    """Facts of no process: what proves nothing gives no answer."""
    unknown = Unknown("not asked")
    sides = tuple(
        Side(name, "ndarray", "numpy", Address(n), unknown, 8, (), False, "?", (), unknown, 0, "")
        for n, name in enumerate("ab")
    )

    def told(sharing: Sharing, **more: Any) -> list[str]:
        found = Comparison("a", "b", False, (), sharing, sides, **more)
        return [row.text for row in conclude(found)]

    assert told(Sharing(unknown, unknown, ())) == ["Whether they share bytes is not known: not asked."]
    assert told(Sharing(False, 0, ())) == ["No byte in common."]
    same = Values(True, "values", 10, 20, "C", "C", False, (), "", "")
    assert told(Sharing(unknown, unknown, ()), values=same) == ["Two ndarray objects with equal values."]
    x, y, z = (
        PartSharing("a", name, known, 8, ())
        for name, known in zip("xyz", (True, False, unknown), strict=True)
    )
    table = replace(sides[0], columns=3, part_word="column")
    found = Comparison("a", "b", False, (), Sharing(True, 8, ()), (table, replace(sides[1], columns=3)))
    (row,) = conclude(replace(found, parts=(x, y, z)))
    assert row.text == "Column `x` shares, `y` does not; of `z` it is not known. All 8 B belong to both."


@pytest.mark.quick
def test_objects_in_lists_and_arrays() -> None:
    rows = [object(), object()]
    assert first(rows, rows[:]).startswith("Two lists with the same 2 objects, as a shallow copy has.")
    one = "Two lists; `a[0]` is in both: a change of it is seen in both."
    assert first(rows, [rows[0], object()]) == one
    a = np.array(rows, dtype=object)
    assert first(a, a.copy()) == "No byte in common, but `a` and `b` refer to the same 2 objects."


@pytest.mark.quick
def test_what_a_copy_of_a_dict_has_in_common_with_it() -> None:
    """A shallow copy, a deep one, and one of which an inner list was put back."""
    one: dict[str, Any] = {"a": [1000, 2000], "b": {"c": [3]}}
    other = copy.deepcopy(one)
    assert first(one, dict(one)).startswith("Two dicts with the same 2 objects, as a shallow copy has.")
    none = "and no mutable object in common: a change of one is not seen in the other."
    assert first(one, other) == f"Two dicts with equal items {none}"
    other["b"] = one["b"]
    shared = "Two dicts with equal items; `a['b']` is in both: a change of it is seen in both."
    assert first(one, other) == shared
    other["a"][1] = 5
    assert first(one, other).endswith("seen in both; the first difference is at `a['a'][1]`.")
    arrays = {"x": np.arange(3)}
    assert first(arrays, {"x": np.arange(3)}).startswith("No byte in common; equal values in item `x`")
    assert first(arrays, dict(arrays)).startswith("Item `x` shares.")
    assert first([set[int]()], [object()]).endswith("Inside `object` was not looked.")


@pytest.mark.quick
def test_of_long_lists_it_is_said_how_many_items_were_looked_at() -> None:
    """What they have in common lies behind them."""
    shared: list[int] = []
    rows = [[[n] for n in range(10_000)] + [shared] for _ in range(2)]
    answer = inspector.compare(*rows, names=("a", "b")).answers[0]
    assert answer.text == "Two lists; no mutable object is in both among the first 5,000 items of each."
    assert not answer.certain and [one.is_closed for one in answer.nothing] == [False]
    numbers = [[*range(1000, 11_000), shared] for _ in range(2)]
    assert "among the first 5,000 items" in first(*numbers)


@pytest.mark.quick
def test_three_objects_and_more() -> None:
    a = distinct(10)
    found = inspector.compare(a, a[::2], a[1::2], a.copy(), names=("a", "b", "c", "d"))
    texts = [row.text for row in found.answers]
    assert texts == [
        "`a`, `b` and `c` share memory, not each with each.",
        "`d` shares no byte with any of them.",
    ]
    assert len(found.pairs) == 6 and len(found.sides) == 4
    drawn = str(inspector.Report("x", {"comparison": found}))
    assert "a and" not in drawn and "40 B" in drawn and drawn.count("\n") <= 9


def held_in(kind: str, a: Any) -> Any:
    if kind == "attribute":
        made = type("Kept", (), {})()
        made.kept = a
        return made
    if kind == "element":
        rows = np.empty((2, 2), dtype=object)
        rows[1, 0] = a
        return rows
    kinds: dict[str, Callable[[], Any]] = {
        "closure": lambda: lambda: a,
        "partial": lambda: partial(print, 1, a),
        "bound method": lambda: a.sum,
    }
    return kinds[kind]()


@pytest.mark.parametrize("kind", ["attribute", "element", "closure", "partial", "bound method"])
def test_what_holds_the_other_says_where(kind: str) -> None:
    a = np.arange(10.0)
    b = held_in(kind, a)
    found = re.fullmatch(r"`(b.*)` is `a`: the same ndarray\.", first(a, b))
    assert found and eval(found[1]) is a


def test_bytes_that_no_protocol_shows_are_not_called_apart() -> None:
    a = io.BytesIO(bytes(1000))
    assert first(a, a.getbuffer()).startswith("`b` is a view of `a`. 1.0 kB belong to both;")
    row = answers(a, len)["sharing-unknown"]
    assert not row.certain and "builtin_function_or_method lays no bytes open" in row.text
