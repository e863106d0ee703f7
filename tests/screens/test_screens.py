"""The screens of docs/reference/screens.md in a notebook: their words; `make pictures` photographs them."""

# SPDX-License-Identifier: MIT
import html
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "screens.md"
PICTURES = ROOT / "docs" / "pictures" / "screens"
WORDS = PICTURES / "words.json"
"""The words of each screen when its picture was taken, without numbers."""
SHELL = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
shell, shown = InteractiveShell.instance(), []
for cell in json.load(sys.stdin):
    with capture_output() as told:
        shell.run_cell(cell, store_history=True)
    pages = [one.data["text/html"] for one in told.outputs if "text/html" in one.data]
    shown.append(pages[-1] if pages else "")  # before it, on a slow machine, what was under way
print(json.dumps(shown))
"""
STYLE = """<meta charset="utf-8"><meta name="color-scheme" content="light dark">
<style>body{margin:10px 14px;font:13px system-ui,"DejaVu Sans",sans-serif}</style>"""
OF_THE_MACHINE = "Where did the memory go?"
"""The screen whose rows depend on the machine, with paths of its files among them: its words are not kept."""
SLOW = " progress was shown during the search: other threads may have run in between"
"""What the card of a slow machine says too."""
NAMED = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.M | re.S)
FOLD = re.compile(r"<details( open)?>(<summary>.*?</summary>)((?:(?!<details|</details>).)*)</details>", re.S)
CELL = re.compile(r"^```ipython[^\n]*\n(.*?)^```", re.M | re.S)


def screens(folder: Path) -> dict[str, str]:
    """Title -> the HTML of the last cell under it; all cells run in one shell."""
    page = PAGE.read_text(encoding="utf-8")
    titles = [match[1] for match in NAMED.finditer(page) for _ in CELL.finditer(match[2])]
    cells = CELL.findall(page)
    done = subprocess.run(
        [sys.executable, "-P", "-c", SHELL],
        input=json.dumps(cells), capture_output=True, text=True, cwd=folder, timeout=100,
        env={**os.environ, "IPYTHONDIR": str(folder)},
    )  # fmt: skip
    shown = json.loads(done.stdout.splitlines()[-1])
    return {title: one for title, one in zip(titles, shown[len(cells) - len(titles) :], strict=True) if one}


def words(page: str) -> str:
    """What a reader sees before anything is opened, without numbers and bars."""
    while FOLD.search(page):
        page = FOLD.sub(lambda fold: fold[2] + (fold[3] if fold[1] else ""), page)
    text = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())
    for one in (", huge pages", SLOW):
        text = text.replace(one, "")
    text = re.sub(r"0x[0-9a-f]+", "#", text)
    return re.sub(r"[\d,.]+( ?(ns|µs|ms|s|B|kB|MB|GB|%))?|[█▒░▁▂▃▄▅▆▇]+|[0-9a-f]{16}", "#", text)


def file_name(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def photographed(shown: dict[str, str], folder: Path, pictures: Path = PICTURES, width: int = 780) -> None:
    """The pictures of some pages by title, light and dark, and their words beside them."""
    from PIL import Image  # not everywhere the file is collected
    from playwright.sync_api import sync_playwright

    pictures.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            room = {"width": width, "height": 10}
            page = browser.new_context(color_scheme=scheme, viewport=room).new_page()
            for title, one in shown.items():
                path = folder / "screen.html"
                path.write_text(STYLE + one, encoding="utf-8")
                page.goto(path.as_uri())
                drawn = Image.open(io.BytesIO(page.screenshot(full_page=True)))
                drawn.quantize(64).save(pictures / f"{file_name(title)}-{scheme}.png", optimize=True)
    said = {title: words(one) for title, one in shown.items() if title != OF_THE_MACHINE}
    (pictures / WORDS.name).write_text(json.dumps(said, indent=1, ensure_ascii=False), encoding="utf-8")


def test_the_pictures_show_the_screens_of_today(tmp_path: Path) -> None:
    shown = screens(tmp_path)
    if os.environ.get("INSPECTOR_PICTURES") == "1":
        photographed(shown, tmp_path)
    page, kept = PAGE.read_text(encoding="utf-8"), json.loads(WORDS.read_text(encoding="utf-8"))
    for title, one in shown.items():
        for scheme in ("light", "dark"):
            assert f"pictures/screens/{file_name(title)}-{scheme}.png" in page
            assert (PICTURES / f"{file_name(title)}-{scheme}.png").stat().st_size > 1_000
        if title != OF_THE_MACHINE:
            assert words(one) == kept[title], f"{title}: make pictures"
