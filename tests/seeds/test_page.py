"""docs/seeds.md is honest: every cell that it names is there, and every concept has a row."""

# SPDX-License-Identifier: MIT
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "seeds.md").read_text()
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| (?!---|concept|system)", line)]
CELLS = sorted(set(re.findall(r"`(\d\d_\w+\.ipynb)#([\w-]+)`", PAGE)))


@pytest.mark.parametrize(("notebook", "cell"), CELLS, ids=lambda value: value)
def test_a_cell_that_is_named_is_there_and_put_something_out(notebook: str, cell: str) -> None:
    cells = json.loads((ROOT / "notebooks" / notebook).read_text())["cells"]
    (found,) = [one for one in cells if one["id"] == cell]
    assert found["cell_type"] == "code" and found["outputs"]


def test_every_row_has_a_proof_or_says_that_it_has_none() -> None:
    three = [row.strip("|").split("|") for row in ROWS if row.count("|") == 4]
    concepts = [columns for columns in three if "ipynb)" not in columns[2] and "not yet*:" not in columns[1]]
    silent = [row[0] for row in concepts if "`" not in row[2] and "*not yet*" not in row[2]]
    assert len(concepts) > 35 and silent == []
