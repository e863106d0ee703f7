"""Pages made by tools are current: docs/reference, the output of examples, the names of fragments."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest
import sources

CHANGES = sources.ROOT / "docs" / "changes"


def tool(*words: object) -> str:
    """What a tool of .ci says where it finds nothing wrong; what it says otherwise fails the test."""
    command = [sys.executable, "-P", *map(str, words)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=110, cwd=sources.ROOT)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_reference_is_what_the_sources_say() -> None:
    tool(sources.ROOT / ".ci" / "reference.py", "--check")


@pytest.mark.slow
@pytest.mark.debugger
@pytest.mark.parametrize("page", sources.EXAMPLES, ids=sources.name)
def test_examples_print_what_their_page_says(page: sources.Path) -> None:
    assert "as the pages say" in tool(sources.ROOT / ".ci" / "examples.py", page)


def test_a_how_to_is_short_and_a_user_s_page_names_no_bits() -> None:
    long = [
        sources.name(page)
        for page in sources.ROOT.glob("docs/how-to/*.md")
        if page.read_text().count("\n") > 70
    ]
    bits = re.compile(r"\b(?:refs_delta|FOLDED|EVENT_\w+|FLAG\()|\bint16_t\b")
    users = [page for shelf in ("how-to", "reference") for page in sources.ROOT.glob(f"docs/{shelf}/*.md")]
    assert long == [] and len(users) > 20
    assert [sources.name(page) for page in users if bits.search(page.read_text())] == []


def test_every_fragment_has_an_issue_and_a_kind() -> None:
    settings = tomllib.loads((sources.ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    kinds = "|".join(kind["directory"] for kind in settings["type"])
    names = [path.name for path in CHANGES.iterdir() if path.name != "template.md"]
    assert (sources.ROOT / settings["template"]).parent == CHANGES
    assert [name for name in names if not re.fullmatch(rf"\d+\.[\w-]+\.({kinds})\.md", name)] == []
