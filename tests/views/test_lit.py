"""The grid of a view's base. The witness is NumPy: element n of the base has the value n."""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]
Array = np.ndarray[Any, Any]
VIEWS: dict[str, Callable[[Array], Array]] = {
    "a row": lambda a: a[1],
    "steps": lambda a: a[::2, 1::2],
    "backwards": lambda a: a[::-2, ::-3],
    "transposed": lambda a: a[1:].T,
    "diagonal": lambda a: np.diagonal(a),
    "repeated": lambda a: np.broadcast_to(a[2], (5, 6)),
    "more axes": lambda a: a.reshape(2, 2, 6)[:, 1:, ::2],
    "the last": lambda a: a[-1:, -1:],
}


def numbers(x: Any) -> list[list[str]] | None:
    """The cells of the grid of what `x` is a view of."""
    text = inspector.inspect(x, name="x").drawn(everything=True, width=100).to_text()
    found = re.search(r"^ in  .*\n((?: +[┌│└].*\n)+)", text, re.MULTILINE)
    rows = re.findall(r"│(.*)│", found[1]) if found else []
    return [[cell.strip() for cell in row.split("│")] for row in rows] if found else None


@pytest.mark.parametrize("view", VIEWS)
def test_the_numbers_are_those_of_the_view(view: str) -> None:
    base = np.empty((4, 6), dtype=np.int64)
    base[...] = np.arange(24).reshape(4, 6)
    shown = VIEWS[view](base)
    cells = numbers(shown)
    assert cells is not None
    assert {int(one) for row in cells for one in row if one.isdigit()} == set(shown.ravel().tolist())
    assert len(cells) == 4 and {len(row) for row in cells} == {6}


def test_a_large_base_is_cut_around_the_view() -> None:
    base = np.zeros((1000, 1000))
    cells = numbers(base[500:, ::2])
    assert cells is not None and cells[0][0] == cells[-1][0] == cells[2][-1] == "…"
    assert cells[2][0] == "500000" and cells[2][1] == "·"


def test_what_is_no_view_has_no_grid() -> None:
    assert numbers(np.zeros(3)) is None and numbers([1]) is None
    assert numbers(np.zeros((4, 4)).view(np.int32)) is None  # elements of another size
