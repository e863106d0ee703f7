"""docs/seeds.md is honest: every test and every cell that it names is there, and every concept has a row."""

# SPDX-License-Identifier: MIT
import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "seeds.md").read_text()
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| (?!---|concept|system)", line)]
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::([\w:]+))?`", PAGE)))
CELLS = sorted(set(re.findall(r"`(\d\d_\w+\.ipynb)#([\w-]+)`", PAGE)))


@pytest.mark.parametrize(("path", "name"), TESTS, ids=lambda value: value)
def test_a_test_that_is_named_is_there(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text())
    if not name:
        return
    *classes, function = name.split("::")
    body = tree.body
    for wanted in classes:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == wanted)
    assert any(isinstance(node, ast.FunctionDef) and node.name == function for node in body), name


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
