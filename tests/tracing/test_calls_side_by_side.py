"""Calls of the C API side by side, in one call: a ring adds them up, so all of them are counted."""

# SPDX-License-Identifier: MIT
import threading
from typing import Any

import numpy as np
import pytest

import inspector
from inspector import _native
from inspector.tracing.events.decode import FLAGS, record_type

pytestmark = [pytest.mark.core]
MANY = 400_000
"""More than half of a ring's records, twice."""
LOOKS = 20


def times(t: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in t.conversions:
        found[one.function] = found.get(one.function, 0) + one.times
    return found


def told(ring: tuple[Any, ...]) -> int:
    """How many calls and parts of calls the records of a ring tell."""
    records = np.frombuffer(ring[-1], record_type())
    repeated = records[(records["flags"] & FLAGS["REPEATED"]) != 0]
    return int(repeated["refs"].sum()) + len(records)


def test_none_of_a_million_is_dropped_and_each_is_counted() -> None:
    given = list(range(MANY))
    texts = [str(one) for one in range(MANY)]
    with inspector.trace("numpy") as t:
        made = np.array(given, dtype=object).astype("i8")
        words = np.array(texts)
        back = words.astype(object)
    assert (made[-1], words[-1], back[-1]) == (MANY - 1, texts[-1], texts[-1])
    assert t.dropped == 0 and t.events < MANY // 2
    found = times(t)
    assert found["PyUnicode_FromKindAndData"] == MANY
    assert found["PyLong_AsLong"] >= MANY or found.get("PyNumber_Long", 0) >= MANY


def test_the_record_says_how_many_and_keeps_the_first_value() -> None:
    given = list(range(7, MANY))
    with inspector.trace("numpy") as t:
        np.array(given)
    table = t.table()
    assert table["times"].sum() > MANY > 100 * len(table["times"][table["times"] > 1])
    (read,) = [one for one in t.conversions if one.function == "PyLong_AsLong"]
    assert read.times == MANY - 7 and read.values == ("7",) and read.ns > MANY


def test_a_reader_beside_it_never_sees_more_than_there_were() -> None:
    """The ring moves its records while another thread reads them."""
    given, over = list(range(MANY)), threading.Event()
    read: list[Any] = []

    with inspector.trace("numpy") as t:

        def look() -> None:
            while not over.is_set():
                read.append(_native.ring_read())
                del read[:-LOOKS]

        beside = threading.Thread(target=look)
        beside.start()
        for _ in range(5):
            np.array(given)
        over.set()
        beside.join()
    assert times(t)["PyLong_AsLong"] == 5 * MANY and t.dropped == 0
    whole = int(t.table()["times"].sum())
    assert len(read) == LOOKS and all(0 < told(ring) <= whole for rings in read for ring in rings)
