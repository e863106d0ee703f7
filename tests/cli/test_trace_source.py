"""`inspector trace --annotate` and `--html`: the source with what each statement did beside it."""

# SPDX-License-Identifier: MIT
import ast
from pathlib import Path

import pytest
from apart import ran

from inspector.sessions.annotated import annotated

APP = """import numpy as np


def narrowed(values):
    return values.astype(np.float32)


prices = np.linspace(0.1, 9.0, 1_000_000)
again = np.array(prices)
half = prices[::2]  # every other one
small = narrowed(prices)
rows = prices.reshape(
    1000, -1
).T.copy()
shown = np.array(prices), '''<b>
</b>'''
kept = np.array(\\
    prices)
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with app.py, copies/app.py and page.html."""
    folder = tmp_path_factory.mktemp("source")
    (folder / "app.py").write_text(APP)
    done = ran(
        "-m", "inspector", "trace", "--annotate", "copies", "--html", "page.html", "app.py", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.quick
def test_a_copy_has_the_verdicts_as_comments_and_does_the_same(written: Path) -> None:
    copy = (written / "copies" / "app.py").read_text()
    assert ast.dump(ast.parse(copy)) == ast.dump(ast.parse(APP))
    said = dict(zip(APP.splitlines(), copy.splitlines(), strict=True))
    behind = {line: said[line][len(line) :] for line in said}
    assert behind["again = np.array(prices)"].startswith("  # copied 8.0 MB")
    assert behind["again = np.array(prices)"].endswith("without: np.asarray(prices)")
    assert behind["half = prices[::2]  # every other one"] == "  # view 4.0 MB: of prices"
    assert "float64 → float32" in behind["    return values.astype(np.float32)"]
    assert behind["rows = prices.reshape("] == "" and "copied 8.0 MB" in behind[").T.copy()"]
    assert behind["import numpy as np"] == "" and (written / "app.py").read_text() == APP


def test_a_comment_that_would_change_the_program_is_left_out() -> None:
    lines = ["x = '''a\n", "b'''\n", "y = 1\n"]
    assert annotated(lines, {1: "into the text", 3: "view"}) == [*lines[:2], "y = 1  # view\n"]


def test_nothing_to_annotate_is_an_error_and_the_source_stays(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("x = 1\n")
    done = ran("-m", "inspector", "trace", "--annotate", "copies", "app.py", cwd=tmp_path)
    assert done.returncode != 0 and "nothing to annotate" in done.stderr
    (tmp_path / "app.py").write_text(APP)
    done = ran("-m", "inspector", "trace", "--annotate", ".", "app.py", cwd=tmp_path)
    assert done.returncode != 0 and (tmp_path / "app.py").read_text() == APP


def test_a_page_is_the_source_with_a_margin_and_no_script(written: Path) -> None:
    page = (written / "page.html").read_text()
    assert "<script" not in page and "http" not in page and "&lt;b&gt;" in page and "<b>" not in page
    assert page.count('<tr id="L') == len(APP.splitlines())


def test_on_github_the_lines_that_copy_or_lose_are_annotated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    (tmp_path / "app.py").write_text(f"{APP}lost = np.array([2**53 + 1, 5]).astype(float)\n")
    done = ran("-m", "inspector", "trace", "app.py", cwd=tmp_path)
    told = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert told[0].startswith("::warning file=app.py,line=19,title=inspector::") and "2**53" not in told[0]
    assert "::notice file=app.py,line=9,title=inspector::copied 8.0 MB" in told[1]
    assert not any("line=10" in line for line in told), "a view is no news"
    done = ran("-m", "inspector", "trace", "--json", "app.py", cwd=tmp_path)
    assert "::notice" not in done.stdout


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_in_a_browser(written: Path, theme: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(color_scheme=theme, viewport={"width": 600, "height": 800})  # type: ignore[arg-type]
        page.goto((written / "page.html").as_uri())
        cells = page.locator("#L9 td").all_inner_texts()
        assert cells[0] == "copied 8.0 MB" and cells[1] == "9" and cells[2] == "again = np.array(prices)"
        colours = page.evaluate(
            "[getComputedStyle(document.querySelector('#L9 span')).color,"
            " document.documentElement.scrollWidth]"
        )
        assert colours == [{"light": "rgb(138, 90, 0)", "dark": "rgb(224, 176, 80)"}[theme], 600]
        browser.close()
