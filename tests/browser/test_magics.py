"""Every magic in a real JupyterLab: its page is drawn, no text lies on another, each control has a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from boxes import nameless, overlaps

pytestmark = pytest.mark.timeout(240)
HERE = Path(__file__).parent
MAKE = "%load_ext inspector\nimport math\nimport numpy as np\nx, rows = np.zeros(1000), [1.0, 2.0]"
CELLS = {
    "%%inspect_trace -m numpy\nnp.asarray(rows);": "copied",
    "%%inspect_leaks -m math\nmath.gcd(4, 6);": "none found",
    "%inspect_watch x": "8.0 kB",
    "x[3] = 1": "x",
    "%inspect_watch --off": "no name is watched",
    "%%inspect_writes x[3:4]\nx[3] = 2": "write",
    "%%inspect_c\nPyObject *twice(PyObject *one) { return PyNumber_Add(one, one); }": "twice",
    "%inspect_crash nowhere": "nowhere",
}
"""Cell -> a word of what it shows. Break and debug: test_views.py."""


def test_every_magic_shows_its_page(lab) -> None:
    lab.context.set_default_timeout(200_000)
    areas = lab.run(MAKE, *CELLS)[1:]
    for area, (cell, word) in zip(areas, CELLS.items(), strict=True):
        said = area.inner_text()
        assert word in said, cell
        assert overlaps(area) == [], cell
        assert nameless(area) == [], cell


def test_no_magic_is_left_out() -> None:
    tried = "".join(file.read_text() for file in HERE.glob("test_*.py"))
    folder = HERE.parents[1] / "magics"
    names = [file.stem.removesuffix("_magic") for file in folder.glob("*_magic.py")]
    assert [name for name in names if f"%{name}" not in tried] == []
