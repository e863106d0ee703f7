"""The magics in a real JupyterLab: what the page shows, in both themes, with a quiet console."""

from __future__ import annotations

import pytest
from labs import brightness

MAKE = """\
%load_ext inspector
import asyncio
import numpy as np
x = np.arange(12.).reshape(3, 4).T
y = x[:2]
rows = [x, x]"""
EVIL = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"


def card(area):
    """The one card of a cell's output, once it is drawn."""
    found = area.locator(".inspector")
    found.wait_for()
    return found


def test_each_magic_shows_its_view(lab) -> None:
    made, one, two, names, cell, awaited, wrong = lab.run(
        MAKE,
        "%inspect x",
        "%inspect x y",
        "%inspect",
        "%%inspect\nrows.append(x)\nborn = bytearray(10_000_000)\nlen(rows)",
        "%%inspect\nslept = await asyncio.sleep(0, [1])\nslept",
        "%inspect nowhere",
    )
    said = card(one).inner_text()
    assert made.inner_text().strip() == ""
    assert all(word in said for word in ("ndarray", "(4, 3)", "view", "Fortran order", "rows[0]", "rows[1]"))
    assert card(one).locator("pre[role=img]").is_visible()
    assert "48 B" in card(two).inner_text() and card(two).locator("table table tr").count() > 3
    found = card(names).locator("table table tr td:first-child").all_inner_texts()
    assert {"x", "y", "rows"} <= {name.strip() for name in found}
    assert "born" in card(cell).inner_text() and "10 MB" in card(cell).inner_text()
    assert cell.locator(".jp-OutputArea-executeResult").inner_text().split()[-1] == "3"
    assert "slept" in card(awaited).inner_text()
    assert awaited.locator(".jp-OutputArea-executeResult").inner_text().split()[-1] == "[1]"
    assert "there is no name nowhere" in wrong.inner_text() and "Traceback" not in wrong.inner_text()
    for area, name in ((cell, "cell"), (wrong, "wrong-name")):
        lab.photograph(area, name)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_follow_the_theme(lab, theme: str) -> None:
    areas = lab.run(MAKE, "%inspect x", "%inspect x y", "%inspect")[1:]
    lab.theme(theme)
    bright = [brightness(card(area).locator("th").first) > 0.5 for area in areas]
    assert bright == [theme == "dark"] * 3, "text is light on dark and dark on light"
    for area, name in zip(areas, ("one", "two", "names"), strict=True):
        lab.photograph(area, name)


def test_a_fold_opens_by_mouse_and_closes_by_key_and_markup_is_text(lab) -> None:
    _, shown, evil = lab.run(
        f"{MAKE}\nd = {{{EVIL!r}: [{EVIL!r}]}}",
        "%inspect x",
        "%inspect d['" + EVIL.replace("'", "\\'") + "']",
    )
    fold = card(shown).locator("details").last
    assert fold.get_attribute("open") is None
    fold.locator("summary").click()
    lab.page.wait_for_function("fold => fold.open", arg=fold.element_handle())
    fold.locator("summary").press("Enter")
    lab.page.wait_for_function("fold => !fold.open", arg=fold.element_handle())
    assert "<img src=x" in card(evil).inner_text()
    assert card(evil).locator("img, script").count() == 0
    assert "owned" not in lab.page.title()
