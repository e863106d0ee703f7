"""docs/materialization.md names a test for each state of each library: the tests it names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = [pytest.mark.core, pytest.mark.quick]
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "materialization.md").read_text()
NAMED = re.findall(r"`([a-z_/0-9]+\.py)::(test_\w+)`", PAGE)


def test_every_row_names_tests_that_are_there() -> None:
    rows = PAGE.partition("| library | state | test |")[2].splitlines()[2:]
    assert len(rows) > 70
    missing = [
        (file, test) for file, test in NAMED if f"def {test}(" not in (ROOT / "tests" / file).read_text()
    ]
    assert missing == []
    assert [row for row in rows if "::" not in row and "none: " not in row] == []


def test_every_library_of_the_page_has_rows() -> None:
    heads = " ".join(re.findall(r"^### (.*)$", PAGE, re.M))
    libraries = [
        word for word in re.findall(r"[A-Za-z]\w+", heads) if word not in ("to", "Native", "objects")
    ]
    rows = PAGE.partition("| library | state | test |")[2]
    assert [name for name in libraries if name.split(".")[0] not in rows] == []
