"""`make docs`: every page and every tutorial in one site, and nothing in it that asks the network."""

# SPDX-License-Identifier: MIT
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ASKED = re.compile(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"(?:https?:)?//[^\"]+\"")


@pytest.mark.slow
def test_the_site_has_all_pages_and_asks_no_network(tmp_path: Path) -> None:
    command = [sys.executable, "-P", ROOT / ".ci" / "docs.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        alone = (tmp_path / "notebooks" / f"{notebook.stem}.html").read_text()
        assert 'class="inspector"' in alone and not ASKED.findall(alone), notebook.name
        page = (tmp_path / "tutorials" / f"{notebook.stem}.html").read_text()
        assert f"../notebooks/{notebook.stem}.html" in page
    docs = ROOT / "docs"
    pages = [page.relative_to(docs) for page in docs.rglob("*.md") if page.parent.name != "changes"]
    assert len(pages) > 40
    for page in pages:
        built = tmp_path / page.parent / ("index.html" if page.stem == "README" else f"{page.stem}.html")
        text = built.read_text()
        assert [found for found in ASKED.findall(text) if "canonical" not in found] == [], page
        assert "```" not in text, page  # a fence that was taken for words
