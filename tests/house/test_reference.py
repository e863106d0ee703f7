"""The shelves of docs/: what tools make is current, a how-to is short, a user's page names no bits."""

# SPDX-License-Identifier: MIT
import re
import subprocess
import sys
import tomllib

import sources

from inspector import _native

LINES_MAX = 70
"""Of a how-to: an answer and a few examples."""
CHANGES = sources.ROOT / "docs" / "changes"


def test_the_reference_is_what_the_sources_say() -> None:
    command = [sys.executable, "-P", str(sources.ROOT / ".ci" / "reference.py"), "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=110)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_how_to_is_short() -> None:
    pages = {page: page.read_text().count("\n") for page in sources.ROOT.glob("docs/how-to/*.md")}
    assert len(pages) > 8
    assert {sources.name(page): lines for page, lines in pages.items() if lines > LINES_MAX} == {}


def test_a_users_page_names_no_kind_and_no_flag_of_a_record() -> None:
    names = [name for table in (_native.EVENT_KINDS, _native.EVENT_FLAGS) for name, *_ in table]
    inside = re.compile(rf"`(?:{'|'.join(names)}|lasti|refs_delta)`")
    pages = [page for shelf in ("how-to", "reference") for page in sources.ROOT.glob(f"docs/{shelf}/*.md")]
    assert [sources.name(page) for page in pages if inside.search(page.read_text())] == []


def test_every_fragment_has_an_issue_and_a_kind() -> None:
    settings = tomllib.loads((sources.ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    kinds = "|".join(kind["directory"] for kind in settings["type"])
    names = [path.name for path in CHANGES.iterdir() if path.name != "template.md"]
    assert (sources.ROOT / settings["template"]).parent == CHANGES
    assert [name for name in names if not re.fullmatch(rf"\d+\.[\w-]+\.({kinds})\.md", name)] == []
