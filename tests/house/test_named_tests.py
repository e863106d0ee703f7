"""Pages say which test proves what: each test they name is there."""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Iterator
from functools import cache

import pytest
import sources

pytestmark = pytest.mark.quick

PAGES = sorted((sources.ROOT / "docs").glob("**/*.md"))
NAMED = re.compile(r"`([\w/]*test_\w+\.py)::(test_\w+)(?:\[[^\]`]*\])?`")


def named(page: sources.Path) -> Iterator[tuple[str, str]]:
    """(file, test) as a page names them."""
    yield from NAMED.findall(page.read_text())


@cache
def defined(file: str) -> frozenset[str]:
    """Tests of the files whose path ends so."""
    paths = [path for path in sources.TESTS if path.as_posix().endswith("/" + file)]
    return frozenset(
        name for path in paths for name in re.findall(r"^ *def (test_\w+)", path.read_text(), re.M)
    )


def test_each_test_that_a_page_names_is_there() -> None:
    assert [
        f"{sources.name(page)}: {file}::{test}"
        for page in PAGES
        for file, test in named(page)
        if test not in defined(file)
    ] == []


def test_pages_name_tests() -> None:
    assert sum(len(list(named(page))) for page in PAGES) > 200
