"""Losses of values that a library made itself are not told of the user's line."""

# SPDX-License-Identifier: MIT
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector

pytestmark = pytest.mark.core
LIBRARY = """\
import numpy as np

class Model:
    def fit(self, x):
        self.kept = np.linspace(0.1, 0.7, 300).astype("f4")
        return self

    def cut(self, x):
        self.kept = x.astype("f4")
        return self

    def cut_all(self, loaded):
        for x in loaded:
            self.cut(x)
        return self
"""


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("made = model.fit(x)", False),
        ("made = model.cut(x)", True),
        ("made = model.cut(x * 3)", True),  # a value without a name, but the user's
        ("made = model.cut(held.x)", True),
        ("made = model.cut_all(x + i for i in range(2))", True),
        ("made = model.cut_all([x, x + 1])", True),
        ("model.fit(x).kept.astype('i1')", True),
    ],
)
def test_a_loss_is_told_of_the_users_values(line: str, is_told: bool, tmp_path: Path) -> None:
    library = tmp_path / "site-packages" / "models.py"
    library.parent.mkdir()
    names: dict[str, Any] = {}
    exec(compile(LIBRARY, str(library), "exec"), names)
    held = type("Held", (), {})()
    held.x = np.linspace(0.2, 0.9, 500)
    path = tmp_path / "app.py"
    path.write_text(f"{line}\n")
    given = {"model": names["Model"](), "x": np.linspace(0.3, 0.8, 400), "held": held}
    with inspector.trace() as trace:
        exec(compile(path.read_text(), str(path), "exec"), given)
    assert trace.fact.losses, "it is in the trace in any case"
    told = [one for row in trace.statements.rows for one in row.losses]
    said = [one.slug for one in trace.report.facts["answers"].rows if one.slug == "values-changed"]
    assert (bool(told), bool(said)) == (is_told, is_told)


def test_two_lines_that_lose_the_same_values_are_both_told(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    path = tmp_path / "app.py"
    path.write_text(
        "import numpy as np, pandas as pd\n"
        "def main():\n"
        "    big = 10**16 + 1\n"
        "    left = pd.DataFrame({'k': [1, 2]})\n"
        "    right = pd.DataFrame({'k': [1], 'id': [big]})\n"
        "    made = as_float(big)\n"
        "    return left.merge(right, how='left', on='k')\n"
        "def as_float(x):\n"
        "    return np.array([x], dtype=float)\n"
        "main()\n"
    )
    with inspector.trace() as trace:
        exec(compile(path.read_text(), str(path), "exec"), {})
    told = {row.site.line for row in trace.statements.rows for loss in row.losses}
    assert told == {7, 9}
    (said,) = (one for one in trace.report.facts["answers"].rows if one.slug == "values-changed")
    assert said.text.endswith("; 1 other line loses values too.")


def test_where_a_named_array_was_freed_a_library_may_have_values_of_its_own(tmp_path: Path) -> None:
    """NumPy's histogram casts its own numbers to places; they may lie where `gone` lay."""
    path = tmp_path / "app.py"
    path.write_text(
        "import numpy as np\nx = np.random.default_rng(1).integers(0, 255, 480_000).astype('u1')\n"
        "gone = np.random.default_rng(1).random(480_000)\ngone = None\nh, e = np.histogram(x, bins=10)\n"
    )
    with inspector.trace() as t:
        exec(compile(path.read_text(), str(path), "exec"), {})
    assert [loss.rule for row in t.statements.rows if row.site.line == 5 for loss in row.losses] == []
    assert [one for one in t.losses if one.inside], "the library did cut numbers of its own"
