"""Pages say which test proves what: each test they name is there."""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Iterator
from functools import cache

import pytest
import sources

pytestmark = pytest.mark.quick

PAGES = sorted((sources.ROOT / "docs").glob("**/*.md"))
NAMED = re.compile(r"`([\w/]*test_\w+\.py)((?:::\w+)*)(?:\[[^\]`]*\])?`")


def named(page: sources.Path) -> Iterator[tuple[str, str]]:
    """(file, class or test) as a page names them; a file alone is named with ""."""
    for file, names in NAMED.findall(page.read_text()):
        yield from ((file, name) for name in (names or "::").split("::")[1:])


@cache
def defined(file: str) -> frozenset[str]:
    """Tests and classes of the files whose path ends so; "" where there is one."""
    texts = [path.read_text() for path in sources.TESTS if path.as_posix().endswith("/" + file)]
    return frozenset(
        name for text in texts for name in ("", *re.findall(r"^ *(?:def|class) (\w+)", text, re.M))
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
