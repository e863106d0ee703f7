"""Blocks of Arrow's objects are asked for once, and never taken from an object that is gone."""

# SPDX-License-Identifier: MIT
import weakref

import pytest

from inspector.tracing.record.reported_spans import MOST, asker, prepare

pa = pytest.importorskip("pyarrow", reason="cannot be installed")
pytestmark = pytest.mark.libraries


def test_an_object_is_asked_once() -> None:
    prepare()
    asked, x = asker(), pa.chunked_array([[1, 2, 3], [4]])
    rows = asked(x)
    assert rows is asked(x) and rows == asker()(x)
    assert [row[0] for row in rows or ()] == [chunk.buffers()[1].address for chunk in x.chunks]
    assert weakref.getweakrefcount(x) == 1  # CPython shares plain ones; no reference keeps it alive


def test_another_object_at_the_same_address_is_not_taken_for_it() -> None:
    prepare()
    asked = asker()
    seen = set()
    for count in range(1, 200):
        x = pa.chunked_array([list(range(count))])
        seen.add(id(x))
        assert [row[2] for row in asked(x) or ()] == [8 * count]
        del x
    assert len(seen) < 199  # so addresses were used again


def test_more_blocks_than_a_call_reports_come_after_it() -> None:
    prepare()
    asked, x = asker(), pa.chunked_array([[n] for n in range(MOST + 3)])
    before, after = asked(x), asked(x, MOST)
    assert len(before or ()) == MOST and len(after or ()) == 3
    assert before == asker()(x) and after == asker()(x, MOST)
