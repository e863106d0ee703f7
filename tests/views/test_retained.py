"""The view of what an object keeps alive."""

# SPDX-License-Identifier: MIT
import pytest

from inspector.facts.refs import Retained
from inspector.views.grammar import Fold, Line
from inspector.views.view import view

pytestmark = pytest.mark.quick


def test_an_object_alone_is_one_line() -> None:
    (line,) = view(Retained(1, 56, (("list", 1, 56),)))
    assert isinstance(line, Line)
    assert [span.text for span in line.spans] == ["56 B", "  the object itself"]


def test_others_are_counted_by_type() -> None:
    (fold,) = view(Retained(3, 2_000_000, (("bytearray", 2, 1_999_944), ("list", 1, 56))))
    assert isinstance(fold, Fold)
    assert [span.text for span in fold.summary.spans] == ["2.0 MB", "  the object and 2 more"]
    assert len(fold.blocks[0].rows) == 2  # type: ignore[union-attr]
