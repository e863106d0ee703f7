"""Every magic in a real JupyterLab: its page in both themes, a quiet console. One notebook, run once."""

# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest
from boxes import nameless, only_by_colour, overlaps
from labs import Lab, brightness

pytestmark = pytest.mark.quick

HERE = Path(__file__).parent
EVIL = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"
MAKE = f"""\
%load_ext inspector
import asyncio, math
import numpy as np
x = np.arange(12.).reshape(3, 4).T
y = x[:2]
rows = [x, x]
many, numbers = np.zeros(1000), [1.0, 2.0]
d = {{{EVIL!r}: [{EVIL!r}]}}"""
CARDS = {
    "one": "%inspect x",
    "two": "%inspect x y",
    "names": "%inspect",
    "cell": "%%inspect\nrows.append(x)\nborn = bytearray(10_000_000)\nlen(rows)",
    "awaited": "%%inspect\nslept = await asyncio.sleep(0, [1])\nslept",
    "wrong": "%inspect nowhere",
    "evil": "%inspect d['" + EVIL.replace("'", "\\'") + "']",
}
OTHERS = {
    "%%inspect_trace -m numpy\nnp.asarray(numbers);": "copied",
    "%%inspect_leaks -m math\nmath.gcd(4, 6);": "No fault was found in the references of 1 call.",
    "%inspect_watch many": "8.0 kB",
    "many[3] = 1": "many",
    "%inspect_watch --off": "no name is watched",
    "%%inspect_writes many[3:4]\nmany[3] = 2": "write",
    "%%inspect_c\nPyObject *twice(PyObject *one) { return PyNumber_Add(one, one); }": "twice",
    "%inspect_crash nowhere": "nowhere",
}
"""Cell -> a word of what it shows. Break and debug: test_views.py."""


class Ran:
    """The notebook, run: what its cells showed."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.page = lab, lab.page
        self.made, *areas = lab.run(MAKE, *CARDS.values(), *OTHERS)
        self.cards = dict(zip(CARDS, areas, strict=False))
        self.others = dict(zip(OTHERS, areas[len(CARDS) :], strict=True))

    def card(self, name: str):
        """The one card of a cell's output, once it is drawn."""
        found = self.cards[name].locator(".inspector")
        found.wait_for()
        return found

    def result(self, name: str) -> str:
        """The last word of what a cell gave."""
        return self.cards[name].locator(".jp-OutputArea-executeResult").inner_text().split()[-1]


@pytest.fixture(scope="module")
def ran(lab) -> Ran:
    return Ran(lab)


def test_each_card_says_what_was_asked(ran) -> None:
    said = ran.card("one").inner_text()
    assert ran.made.inner_text().strip() == ""
    assert all(
        word in said for word in ("ndarray", "(4, 3)", "shows in y", "Fortran order", "rows[0]", "rows[1]")
    )
    two = ran.card("two")
    assert "Both are views of one ndarray" in two.inner_text() and "48 B" in two.inner_text()
    assert two.locator("pre[role=img]").is_visible()
    found = ran.card("names").locator("table table tr td:first-child").all_inner_texts()
    assert {"x", "y", "rows"} <= {name.strip() for name in found}
    assert "born" in ran.card("cell").inner_text() and "10 MB" in ran.card("cell").inner_text()
    assert ran.result("cell") == "3"
    assert "slept" in ran.card("awaited").inner_text()
    assert ran.result("awaited") == "[1]"
    wrong = ran.cards["wrong"].inner_text()
    assert "there is no name nowhere" in wrong and "Traceback" not in wrong


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_follow_the_theme(ran, theme: str) -> None:
    ran.lab.theme(theme)
    for name in ("one", "two", "names"):
        bright = brightness(ran.card(name).locator("th").first) > 0.5
        assert bright == (theme == "dark"), f"{name}: text is light on dark and dark on light"
    for name, area in ran.cards.items():
        ran.lab.photograph(area, f"{name}-{theme}")


def test_a_fold_opens_by_mouse_and_closes_by_key(ran) -> None:
    fold = ran.card("one").locator("details").first
    assert fold.get_attribute("open") is None
    fold.locator("> summary").click()
    ran.page.wait_for_function("fold => fold.open", arg=fold.element_handle())
    fold.locator("> summary").press("Enter")
    ran.page.wait_for_function("fold => !fold.open", arg=fold.element_handle())


def test_markup_is_text(ran) -> None:
    assert "<img src=x" in ran.card("evil").inner_text()
    assert ran.card("evil").locator("img, script").count() == 0
    assert "owned" not in ran.page.title()


def test_every_magic_shows_its_page(ran) -> None:
    for cell, area in ran.others.items():
        assert OTHERS[cell] in area.inner_text(), cell


def test_no_text_lies_on_another_and_no_control_lacks_a_name_and_no_colour_a_word(ran) -> None:
    for cell, area in (ran.cards | ran.others).items():
        assert overlaps(area) == [], cell
        assert nameless(area) == [], cell
        assert only_by_colour(area) == [], cell


def test_no_magic_is_left_out() -> None:
    tried = "".join(file.read_text() for file in HERE.glob("test_*.py"))
    folder = HERE.parents[1] / "magics"
    names = [file.stem.removesuffix("_magic") for file in folder.glob("*_magic.py")]
    assert [name for name in names if f"%{name}" not in tried] == []
