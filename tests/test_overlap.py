"""Overlap of strided blocks: the arithmetic against byte sets written out."""

# SPDX-License-Identifier: MIT
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from soak import rounds

from inspector.objects.layouts import overlap

pytestmark = [pytest.mark.core, pytest.mark.quick]

Block = tuple[int, tuple[int, ...], tuple[int, ...], int]


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    """Small blocks of 0 to 3 axes; strides of every sign, gaps, overlaps and zeros included."""
    axes = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(-40, 40)), max_size=3))
    shape, strides = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    return draw(st.integers(0, 120)), shape, strides, draw(st.integers(0, 9))


@st.composite
def views(draw: st.DrawFn) -> Block:
    """What slicing makes: sub-boxes with steps of one 4-d C-ordered array, axes permuted."""
    lengths, axes, address = (3, 4, 3, 5), [], 0
    step = 4
    for length in lengths[::-1]:
        start, every = draw(st.integers(0, length - 1)), draw(st.integers(1, 3))
        count = (length - 1 - start) // every + 1
        sign = draw(st.sampled_from([1, -1]))
        address += step * (start if sign > 0 else start + (count - 1) * every)
        axes.append((count, sign * every * step))
        step *= length
    axes = draw(st.permutations(axes))
    return address, tuple(n for n, _ in axes), tuple(s for _, s in axes), 4


def byte_set(block: Block) -> set[int]:
    address, shape, strides, itemsize = block
    starts = {address}
    for n, stride in zip(shape, strides, strict=True):
        starts = {start + i * stride for start in starts for i in range(n)}
    return {start + i for start in starts for i in range(itemsize)}


@given(blocks())
def test_the_nested_form_has_the_same_bytes(block: Block) -> None:
    form = overlap.nested(*block)
    if form is not None:
        bytes_ = byte_set(block)
        assert form.bytes == len(bytes_)
        assert not bytes_ or (form.start, form.stop) == (min(bytes_), max(bytes_) + 1)


@given(blocks(), blocks())
@example((0, (7,), (6,), 3), (0, (8, 4), (2, 36), 1))
@settings(max_examples=rounds(400, 4000))
def test_any_two_blocks(a: Block, b: Block) -> None:
    expected = len(byte_set(a) & byte_set(b))
    first, second = overlap.nested(*a), overlap.nested(*b)
    if first is not None and second is not None:
        assert overlap.common_bytes(first, second) == expected
    assert overlap.common_spans(overlap.written_out(*a), overlap.written_out(*b)) == expected


@given(views(), views())
@settings(max_examples=rounds(400, 4000))
def test_two_views_of_one_array_always_have_a_form(a: Block, b: Block) -> None:
    first, second = overlap.nested(*a), overlap.nested(*b)
    assert first is not None and second is not None
    assert overlap.common_bytes(first, second) == len(byte_set(a) & byte_set(b))


@given(*[st.integers(1, 12)] * 4, st.integers(-60, 60))
def test_solutions_are_counted(p: int, p_count: int, q: int, q_count: int, distance: int) -> None:
    counted = sum(j * p - i * q == distance for j in range(p_count) for i in range(q_count))
    assert overlap.solutions(p, p_count, q, q_count, distance) == counted


def test_a_long_proof_is_refused_and_a_large_array_is_none() -> None:
    n = 10**9
    rows = overlap.nested(0, (n, n), (16 * n, 16), 8)
    between = overlap.nested(8, (n, n), (16 * n, 16), 8)
    thirds = overlap.nested(0, (n // 2, n // 3), (32 * n, 48), 8)
    assert rows is not None and between is not None and thirds is not None
    assert overlap.common_bytes(rows, between) == 0
    assert overlap.common_bytes(rows, thirds) == (n // 2) * (n // 3) * 8
    awkward = overlap.nested(1, (10**5, 10**5, 10**5), (8 * 10**13 + 7, 8 * 10**7 + 11, 24), 3)
    other = overlap.nested(5, (10**5, 10**5, 10**5), (9 * 10**13 + 5, 9 * 10**7 + 13, 40), 3)
    assert awkward is not None and other is not None
    with pytest.raises(overlap.TooLong):
        overlap.common_bytes(awkward, other)
