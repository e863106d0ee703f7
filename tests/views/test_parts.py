"""The table of columns, as drawn."""

# SPDX-License-Identifier: MIT
import pytest

from inspector.views import parts
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text
from inspector.views.view import view

pytestmark = pytest.mark.quick


def test_a_row_a_column() -> None:
    text = plain_text(view(parts._sample()), Drawing(width=80))
    assert text.splitlines()[0].split() == ["columns", "4", "in", "3", "blocks"]
    assert "price" in text and "1 more until a write" in text and "days" in text
    assert all(len(line) <= 80 for line in text.splitlines())
