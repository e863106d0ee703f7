"""Shapes and strides in words, and the bounded preview."""

# SPDX-License-Identifier: MIT
import array
import mmap
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector._native import Subject
from inspector.facts.layout import Layout
from inspector.facts.unknown import Unknown
from inspector.objects.layouts import strides
from inspector.objects.probes.layout import layout

pytestmark = [pytest.mark.core, pytest.mark.quick]

X = np.arange(24).reshape(4, 6)
CUBE = np.arange(60).reshape(3, 4, 5)


def of(x: object) -> Layout:
    found = layout(Subject(x))
    assert found is not None and not isinstance(found, Unknown)
    return found


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (X, ("C order",)),
        (np.asfortranarray(X), ("Fortran order",)),
        (X.T, ("Fortran order",)),
        (CUBE.transpose(1, 0, 2), ("transposed",)),
        (X[::-1], ("reversed",)),
        (X[:, ::-1], ("reversed",)),
        (X[:, ::2], ("every 2nd element",)),
        (np.arange(30)[::3], ("every 3rd element",)),
        (np.arange(30)[::-11], ("reversed", "every 11th element")),
        (X[::2], ("sliced",)),
        (X[1:3, 1:4], ("sliced",)),
        (X[1:3], ("C order",)),
        (np.broadcast_to(X[0], (9, 6)), ("broadcast",)),
        (np.lib.stride_tricks.sliding_window_view(X[0], 3), ("overlapping",)),
        (np.zeros((0, 5)), ("empty",)),
        (np.array(5), ("scalar",)),
        (np.zeros((1, 1)), ("C order",)),
        (np.zeros(4, [("a", "i1"), ("b", "f8")])["b"], ("sliced",)),
        (b"bytes", ("C order",)),
        (memoryview(b"bytes")[::-1], ("reversed",)),
        (array.array("h", [1, 2]), ("C order",)),
    ],
    ids=lambda value: " ".join(value) if type(value) is tuple else "",
)
def test_words(x: object, words: tuple[str, ...]) -> None:
    assert of(x).words == words


@given(st.data())
def test_contiguity_is_numpys(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 3), max_size=3))
    steps = data.draw(
        st.lists(st.sampled_from([-8, 0, 4, 8, 16, 24]), min_size=len(shape), max_size=len(shape))
    )
    x: Any = np.lib.stride_tricks.as_strided(np.zeros(64)[32:], shape, steps)
    assert strides.is_contiguous(x.shape, x.strides, 8, "C") == x.flags.c_contiguous
    assert strides.is_contiguous(x.shape, x.strides, 8, "F") == x.flags.f_contiguous


def test_fields() -> None:
    fact = of(np.zeros(3, np.dtype([("price", "f8"), ("count", "i2")], align=True)))
    assert fact.itemsize_bytes == 16 and fact.format == "struct of 2 fields"
    assert [(m.name, m.format, m.offset_bytes, m.size_bytes) for m in fact.members] == [
        ("price", "float64", 0, 8),
        ("count", "int16", 8, 2),
    ]
    assert of(np.zeros(2, ">i4")).format == ">i4"
    assert of(np.zeros(2, object)).format == "object"


def test_the_preview_is_short_and_of_numbers_only() -> None:
    assert of(X.T).preview == ("0", "6", "12", "18", "1", "7")
    assert of(np.array([1.5, -2.0])[::-1]).preview == ("-2.0", "1.5")
    assert of(np.array([0.1], "f4")).preview == ("0.1",)
    assert of(np.array([1 + 2j], ">c8")).preview == ("(1+2j)",)
    assert of(np.array(["2026-11-21"], "M8[D]")).preview == ("2026-11-21",)
    assert of(np.zeros((0, 3))).preview == ()
    assert of(bytearray(b"\x01\xff")).preview == ("1", "255")
    for x in (np.array([None]), np.array(["text"]), np.zeros(1, [("a", "i4")])):
        assert isinstance(of(x).preview, Unknown)


def test_an_object_in_an_array_is_not_looked_at() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise AssertionError("asked for its repr")

        __str__ = __repr__

    assert isinstance(of(np.array([Loud()], object)).preview, Unknown)


def test_a_truncated_file_is_no_crash(tmp_path: Any) -> None:
    path = tmp_path / "cut.bin"
    path.write_bytes(bytes(3 * mmap.PAGESIZE))
    x = np.memmap(path, dtype="u1", mode="r+")
    assert x[2 * mmap.PAGESIZE] == 0
    path.write_bytes(b"")
    assert isinstance(of(x[2 * mmap.PAGESIZE :]).preview, Unknown)


def test_several_blocks_have_no_one_layout() -> None:
    import pandas as pd

    assert isinstance(layout(Subject(pd.DataFrame({"a": [1.0], "b": [1]}))), Unknown)
    assert of(pd.DataFrame(np.zeros((4, 3)))).shape == (4, 3)
    assert layout(Subject(5)) is None
    assert layout(Subject(pd.RangeIndex(5))) is None
