"""A walk of the heap follows what NumPy's arrays hold, which the gc does not show: base, dtype, objects."""

# SPDX-License-Identifier: MIT
import numpy as np
import pytest

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]


class Thing:
    """Something to be held."""


class Kind(np.ndarray):
    """A subclass, which the gc does track."""


def array_bytes() -> int:
    return sum(row.bytes for row in inspector.heap().types if row.type_name == "numpy.ndarray")


def test_the_census_counts_an_array_that_only_a_view_keeps() -> None:
    before = array_bytes()
    view = np.zeros(100_000)[5:8]
    assert array_bytes() - before > 700_000  # of 800,000: other arrays come and go
    del view
    assert array_bytes() - before < 100_000


@pytest.mark.parametrize("kind", [np.ndarray, Kind])
def test_what_an_array_keeps_goes_with_it(kind: type) -> None:
    array = np.zeros(1000).view(kind)
    assert inspector.retained(array).retained_bytes > 8000
    base = array.base
    assert inspector.retained(array).retained_bytes < 8000, "base keeps the bytes"
    assert inspector.chain(base).found


def test_a_path_leads_through_a_base_and_through_an_element() -> None:
    thing = Thing()
    cells = {"grid": np.array([[None, [thing]], [1, 2]], dtype=object)}
    del thing
    path = inspector.chain(cells["grid"][0, 1][0]).owners
    assert [owner.key for owner in path][-3:] == ["['grid']", "[1]", "[0]"]
    assert inspector.retained(cells["grid"]).by_type[0][0].endswith("Thing")


def test_numbers_are_not_taken_for_objects() -> None:
    garbage = np.full(1000, 0x10, dtype=np.int64)
    assert inspector.retained(garbage).objects == 1
    assert inspector.retained(garbage[1:]).objects == 1


def test_a_view_of_objects_leaves_them_to_the_owner() -> None:
    owner = np.array([Thing() for _ in range(5)], dtype=object)
    view = owner[1:3]
    assert inspector.retained(view).objects == 1
    assert inspector.retained(owner).objects == 6, "if the owner went, so would its objects"
