"""docs/how-it-works/tested.md names a test for each state of each library: the tests it names are there."""

# SPDX-License-Identifier: MIT
import re
from pathlib import Path

import pytest

pytestmark = [pytest.mark.core, pytest.mark.quick]
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-it-works" / "tested.md").read_text()
LIBRARIES = (ROOT / "docs" / "reference" / "libraries.md").read_text()
ROWS = PAGE.partition("| library | states, and the test for each |")[2].splitlines()[2:]


def test_every_row_names_a_test() -> None:
    """That each is there is said by test_named_tests.py."""
    assert len(ROWS) > 20
    assert [row for row in ROWS if "::" not in row] == []


def test_every_library_of_the_page_has_rows() -> None:
    heads = " ".join(re.findall(r"^## (.*)$", LIBRARIES, re.M))
    libraries = [
        word for word in re.findall(r"[A-Za-z]\w+", heads) if word not in ("to", "Native", "objects")
    ]
    rows = "\n".join(ROWS)
    assert len(libraries) > 12 and [name for name in libraries if name.split(".")[0] not in rows] == []
