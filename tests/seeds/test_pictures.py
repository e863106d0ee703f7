"""The pictures of docs/seeds.md show the first screens of today: each is run again, its words compared."""

# SPDX-License-Identifier: MIT
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TITLES = [
    pytest.param("reticulate", marks=pytest.mark.r),
    pytest.param("ALTREP", marks=pytest.mark.r),
    pytest.param("PyTorch's extension", marks=pytest.mark.newest),
    pytest.param("Theano's C op", marks=pytest.mark.newest),
]


def module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.timeout(300)
@pytest.mark.parametrize("title", TITLES)
def test_a_picture_shows_the_screen_of_today(title: str, tmp_path: Path) -> None:
    pictures, screens = (
        module(ROOT / name) for name in (".ci/seed_pictures.py", "tests/screens/test_screens.py")
    )
    report = pictures.screen(title, sys.executable, tmp_path)
    assert len(str(report).splitlines()) <= 24
    kept = set(json.loads(pictures.WORDS.read_text(encoding="utf-8"))[title].split())
    now = set(screens.words(report.to_html()).split())
    # which of two slow lines is named first, and bars, are the machine's
    assert len(kept & now) >= 0.85 * len(kept | now), (
        f"{kept ^ now}: .venv/bin/python -P .ci/seed_pictures.py"
    )
    page = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
    for scheme in ("light", "dark"):
        assert f"pictures/seeds/{screens.file_name(title)}-{scheme}.png" in page
