"""Golden pictures; each number is a place in memory, and nothing is wider than 80 columns."""

# SPDX-License-Identifier: MIT
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector._native import Subject
from inspector.facts.layout import Layout
from inspector.facts.unknown import Unknown
from inspector.objects.layouts import strides
from inspector.objects.probes.layout import layout
from inspector.views.grammar import Picture
from inspector.views.plain import cells
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text
from inspector.views.view import view

pytestmark = [pytest.mark.core, pytest.mark.quick]

SEED = np.array([[1, 2, 3], [4, 5, 6]], dtype="i8")
ARRAYS = {
    "Fortran order": np.asfortranarray(SEED),
    "sliced": np.arange(50).reshape(5, 10)[1:, 2:8:2],
    "every 2nd": np.arange(10, dtype="i4")[::2],
    "large": np.full((1000, 1000), 7, order="F"),
    "four axes": np.arange(48, dtype="i2").reshape(2, 4, 2, 3),
    "scalar": np.array(3.5),
    "empty": np.zeros((0, 3)),
    "structured": np.zeros(2, np.dtype([("price", "f8"), ("count", "i2")], align=True)),
    "field": np.zeros(3, [("a", "i1"), ("b", "i4")])["b"],
    "object": np.array([None, 1], object),
}
DRAWN = """\
== Fortran order
 layout   strides (8, 16)  → 16 B a step, ↓ 8 B                    Fortran order
            ┌────┬────┬────┐
            │  0 │  2 │  4 │   numbers: place in memory
            │  1 │  3 │  5 │
            └────┴────┴────┘
 values   1, 2, 3, 4, 5, 6
== sliced
 layout   strides (80, 16)  → 16 B a step, ↓ 80 B     every 2nd element · sliced
            ┌────┬────┬────┐
            │  0 │  2 │  4 │   numbers: place in memory
            │ 10 │ 12 │ 14 │
            │ 20 │ 22 │ 24 │
            │ 30 │ 32 │ 34 │
            └────┴────┴────┘
 values   12, 14, 16, 22, 24, 26 …
== every 2nd
 layout   strides (8,)  → 8 B a step                           every 2nd element
            ┌────┬╌╌╌╌╌┬────┬╌╌╌╌╌┬────┬╌╌╌╌╌┬────┬╌╌╌╌╌┬────┐
            │  0 │ 4 B │  2 │ 4 B │  4 │ 4 B │  6 │ 4 B │  8 │
            └────┴╌╌╌╌╌┴────┴╌╌╌╌╌┴────┴╌╌╌╌╌┴────┴╌╌╌╌╌┴────┘
            numbers: place in memory
 values   0, 2, 4, 6, 8
== large
 layout   strides (8, 8000)  → 8000 B a step, ↓ 8 B                Fortran order
            ┌──────┬──────┬──────┬──────┬──────┬──────┐
            │    0 │ 1000 │ 2000 │ 3000 │ 4000 │    … │
            │    1 │ 1001 │ 2001 │ 3001 │ 4001 │    … │
            │    2 │ 1002 │ 2002 │ 3002 │ 4002 │    … │
            │    … │    … │    … │    … │    … │    … │
            └──────┴──────┴──────┴──────┴──────┴──────┘
            numbers: place in memory
 values   7, 7, 7, 7, 7, 7 …
== four axes
 layout   strides (48, 12, 6, 2)  → 2 B a step, ↓ 6 B                    C order
            ┌────┬────┬────┐
            │  0 │  1 │  2 │   numbers: place in memory, of x[0, 0]
            │  3 │  4 │  5 │
            └────┴────┴────┘
 values   0, 1, 2, 3, 4, 5 …
== scalar
 layout   scalar  one element of 8 B
 values   3.5
== empty
 layout   empty  shape (0, 3), no element
== structured
 layout   strides (16,)  → 16 B a step                                   C order
            ┌────┬────┐
            │  0 │  1 │   numbers: place in memory
            └────┴────┘
 element  16 B   struct of 2 fields
          price  float64                 +0  8 B
          count  int16                   +8  2 B
                 6 B belong to no field
== field
 layout   strides (5,)  → 5 B a step                                      sliced
            ┌────┬╌╌╌╌╌┬────┬╌╌╌╌╌┬────┐
            │  0 │ 1 B │  5 │ 1 B │ 10 │   numbers: byte offset
            └────┴╌╌╌╌╌┴────┴╌╌╌╌╌┴────┘
 values   0, 0, 0
== object
 layout   strides (8,)  → 8 B a step                                     C order
            ┌────┬────┐
            │  0 │  1 │   numbers: place in memory
            └────┴────┘
"""
PICTURES = dict(re.findall(r"== (.*)\n((?: .*\n)+)", DRAWN))


def fact_of(x: object) -> Layout:
    found = layout(Subject(x))
    assert found is not None and not isinstance(found, Unknown)
    return found


@pytest.mark.parametrize("name", ARRAYS)
def test_golden(name: str) -> None:
    assert plain_text(view(fact_of(ARRAYS[name])), Drawing()) == PICTURES[name]


@given(*[st.integers(1, 3)] * 2, *[st.integers(-4, 4)] * 2)
def test_each_number_of_a_grid_is_the_place_of_its_element(n: int, m: int, down: int, right: int) -> None:
    x = np.lib.stride_tricks.as_strided(np.zeros(64)[32:], (n, m), (8 * down, 8 * right))
    (picture,) = [block for block in view(fact_of(x)) if isinstance(block, Picture)]
    rows = ["".join(span.text for span in row).partition("   ")[0] for row in picture.rows]
    numbers = [[int(one) for one in re.findall(r"\d+", row)] for row in rows if row.startswith("│")]
    places = down * np.arange(n)[:, None] + right * np.arange(m)
    assert numbers == (places - places.min()).tolist()


@given(
    st.lists(st.tuples(st.integers(1, 10**6), st.integers(-(10**12), 10**12)), min_size=1, max_size=5),
    st.integers(1, 10**4),
)
def test_every_grid_is_bounded_and_even(axes: list[tuple[int, int]], itemsize: int) -> None:
    shape, steps = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    words = strides.words(shape, steps, itemsize)
    fact = Layout(shape, steps, itemsize, "float64", False, False, True, words, (), Unknown("not asked"))
    (picture,) = [block for block in view(fact) if isinstance(block, Picture)]
    rows = ["".join(span.text for span in row) for row in picture.rows]
    assert len(rows) <= 4 + 3
    grid = [row for row in rows if row[0] in "┌│└"]
    assert len({cells(row.partition("   numbers")[0]) for row in grid}) == 1
    for line in plain_text(view(fact), Drawing()).splitlines():
        assert cells(line) <= 80, line
    assert picture.alt.endswith(".")
