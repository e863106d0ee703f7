"""Groups of many records, numbered and ordered without sorting them: against plain Python."""

# SPDX-License-Identifier: MIT
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.tracing.ask.nesting import TOP, _numbered
from inspector.tracing.ask.query import _by_group
from inspector.tracing.events.decode import among

pytestmark = [pytest.mark.core]
KEYS = st.lists(st.integers(0, 50) | st.integers(0, 2**40), max_size=60)


@given(KEYS)
def test_equal_keys_have_equal_small_numbers(keys: list[int]) -> None:
    order = sorted(set(keys))
    assert _numbered(np.array(keys, np.int64)).tolist() == [order.index(one) for one in keys]


@given(st.lists(st.integers(TOP, 6), max_size=60))
def test_the_heads_of_each_group_in_their_order(group: list[int]) -> None:
    order, stops = _by_group(np.array(group, np.int64), 7)
    for one in range(7):
        mine = order[stops[one] : stops[one + 1]].tolist()
        assert mine == [at for at, of in enumerate(group) if of == one]


@given(st.lists(st.integers(0, 255), max_size=60), st.sets(st.integers(0, 255), max_size=5))
def test_what_is_among_some_kinds(kinds: list[int], some: set[int]) -> None:
    assert among(np.array(kinds, np.uint8), sorted(some)).tolist() == [one in some for one in kinds]
