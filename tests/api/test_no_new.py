"""A block that leaves new objects alive fails, and says by what path."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
from typing import Any

import pytest
from refused import refused

import inspector

pytestmark = pytest.mark.core
KEPT: dict[str, Any] = {}


class Session:
    pass


@pytest.fixture(autouse=True)
def empty() -> Any:
    yield
    KEPT.clear()


@pytest.mark.quick
def test_what_a_cache_keeps_fails_with_the_path_that_holds_it() -> None:
    with pytest.raises(inspector.errors.InspectorError) as caught, inspector.no_new(Session):
        KEPT["user"] = [Session()]
    assert caught.value.slug == "new-objects"
    assert "1 new object of " in str(caught.value) and "KEPT['user'][0]" in str(caught.value)


def test_what_is_let_go_of_passes_and_so_does_what_was_there_before() -> None:
    KEPT["before"] = Session()
    with inspector.no_new("*Session"):
        Session().me = Session()  # type: ignore[attr-defined]
        cycle = Session()
        cycle.me = cycle  # type: ignore[attr-defined]
        del cycle
        KEPT["other"] = [1.5]
    assert gc.isenabled()


def test_objects_that_no_collector_tracks_are_seen() -> None:
    kept: list[object] = []
    with refused("new-objects"), inspector.no_new("bytearray"):
        kept.append(bytearray(10))
    with refused("new-objects"), inspector.no_new("decimal.Decimal"):
        import decimal

        kept.append(decimal.Decimal("1.5"))


def test_many_are_counted_and_three_are_named() -> None:
    with pytest.raises(inspector.errors.InspectorError) as caught, inspector.no_new(Session):
        KEPT["many"] = [Session() for _ in range(12)]
    assert "12 new objects of " in str(caught.value) and "and 9 more" in str(caught.value)


def test_an_error_in_the_block_is_the_error() -> None:
    with pytest.raises(ZeroDivisionError), inspector.no_new(Session):
        KEPT["user"] = Session()
        raise ZeroDivisionError
