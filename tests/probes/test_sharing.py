"""Who shares bytes: real objects of several kinds, and a namespace full of views."""

# SPDX-License-Identifier: MIT
import array
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from soak import rounds

import inspector
from inspector._native import Subject
from inspector.facts.sharing import Sharing
from inspector.facts.unknown import Unknown
from inspector.objects.probes.sharing import pairs, sharing

pytestmark = [pytest.mark.core, pytest.mark.quick]


def shared(a: object, b: object) -> Sharing:
    return sharing(Subject(a), Subject(b))


def test_views_of_one_array() -> None:
    x = np.arange(12.0).reshape(3, 4)
    assert shared(x, x.T) == Sharing(True, 96, shared(x, x).ranges)
    assert shared(x[:, ::2], x[:, 1::2]) == Sharing(False, 0, ())
    assert shared(x[:, ::2], x[1]).overlap_bytes == 16
    (meeting,) = shared(x[:2], x[1:]).ranges
    assert (meeting.start, meeting.bytes) == (x[1:].ctypes.data, 32)
    assert shared(x, x.copy()).overlap is False


def test_other_kinds_of_bytes() -> None:
    content = bytearray(64)
    view = memoryview(content)[8:24]
    whole = np.frombuffer(content, "f8")
    assert shared(content, view).overlap_bytes == 16
    assert shared(view, whole[2:]).overlap_bytes == 8
    assert shared(array.array("d", [1.0]), whole).overlap is False
    for wrong in (shared(content, 5), shared([], content)):
        assert isinstance(wrong.overlap, Unknown) and isinstance(wrong.overlap_bytes, Unknown)


steps = st.sampled_from([-3, -2, -1, 1, 2, 3])
slices = st.builds(slice, st.none() | st.integers(-7, 7), st.none() | st.integers(-7, 7), steps)


@given(st.tuples(slices, slices), st.tuples(slices, slices), st.booleans())
@settings(max_examples=rounds(300, 3000))
def test_numpys_own_verdict(left: tuple[slice, slice], right: tuple[slice, slice], turned: bool) -> None:
    x = np.zeros((6, 7), "i2")
    a, b = x[left], (x.T if turned else x)[right]
    result, said = shared(a, b), inspector.compare(a, b, names=("a", "b")).answers[0].text
    told = re.search(r"(\d+) B belong to both", said)
    assert (int(told[1]) if told else "o byte in common" not in said) == result.overlap_bytes, said
    assert result.overlap == np.shares_memory(a, b)
    b[...] = 1
    assert result.overlap_bytes == 2 * int(a.sum()), "elements of a that a write to b changed"


def test_pairs_are_found_by_a_sweep() -> None:
    x = np.arange(100)
    names = {"x": x, "tail": x[50:], "head": x[:50], "even": x[::2], "odd": x[1::2]}
    names |= {"other": x.copy(), "n": 5}
    found = {(pair.left, pair.right) for pair in pairs({name: Subject(o) for name, o in names.items()})}
    both = {("x", n) for n in ("tail", "head", "even", "odd")}
    both |= {(half, comb) for half in ("tail", "head") for comb in ("even", "odd")}
    assert found == both


def test_many_separate_arrays_make_no_pairs() -> None:
    assert pairs({str(i): Subject(np.arange(4)) for i in range(2_000)}) == ()
