"""Every slug that is raised has a section in docs/messages.md, and every section a slug that is raised."""

# SPDX-License-Identifier: MIT
import ast
import re

import pytest
import sources

pytestmark = pytest.mark.quick

PAGE = sources.ROOT / "docs" / "messages.md"


def raised() -> dict[str, str]:
    """slug -> where it is said, for each `slug="..."` in the sources."""
    found = {}
    for path in sources.PYTHON:
        for node in ast.walk(sources.tree(path)):
            for keyword in node.keywords if isinstance(node, ast.Call) else ():
                if keyword.arg == "slug" and isinstance(keyword.value, ast.Constant):
                    found[str(keyword.value.value)] = f"{sources.name(path)}:{node.lineno}"
    return found


def explained() -> set[str]:
    return set(re.findall(r"^## ([a-z0-9-]+)$", PAGE.read_text(), re.MULTILINE))


def test_every_slug_is_explained() -> None:
    missing = {slug: where for slug, where in raised().items() if slug not in explained()}
    assert missing == {}


def test_every_section_is_about_something_the_sources_say() -> None:
    text = "\n".join(path.read_text() for path in sources.PYTHON)
    assert [slug for slug in sorted(explained()) if f'"{slug}"' not in text] == []


def test_every_section_says_why_and_what_to_do() -> None:
    for section in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        slug = section.split("\n")[0]
        assert "**Why**" in section, slug
        assert "**Do**" in section, slug
