"""The pictures of the screens in docs/reference/views.md: written by `make pictures`, compared by words."""

# SPDX-License-Identifier: MIT
import asyncio
import os
import re
from html import unescape
from pathlib import Path

import pytest
from textual.app import App

from inspector.faces.screens.browse import Browse
from inspector.faces.screens.live import Live
from inspector.facts.namespace import Namespace, Row
from inspector.facts.stack import Frame, Stack, Stacks
from inspector.facts.unknown import Address, Unknown
from inspector.report import Report

PICTURES = Path(__file__).parents[2] / "docs" / "pictures" / "views"
SIZE = (124, 24)
NOT_KEPT = re.compile(
    r"@font-face \{.*?\}|<clipPath id=\S*-line-.*?</clipPath>\s*| clip-path=\"\S*-line-\d+\)\"|^\s+",
    re.DOTALL | re.MULTILINE,
)
"""Fonts that a page would ask a stranger for (the next font of the list is the reader's own); a frame around
each line, which no text leaves; indentation and empty lines."""
NO_LINE = Unknown("no debug information")


def report() -> Report:
    rows = (
        Row("big", "ndarray f8", Address(64), 8_000_000, 3, "owned", 1, ""),
        Row("x", "ndarray f8", Address(128), 96, 2, "view", 1, ""),
        Row("t", "Tensor f4", Address(192), 4_000_000, 1, "owned", 2, ""),
        Row("a", "ndarray f4", Address(256), 4_000_000, 2, "shared-foreign", 2, ""),
        Row("table", "DataFrame", Address(320), 24_000_000, 1, "owned", 0, ""),
    )
    return Report("names", {"namespace": Namespace(rows, 36_000_096, 0, 31_000_000)})


def stacks() -> Stacks:
    python = (
        Frame("native", "array_sum", "_multiarray_umath.so", NO_LINE, False),
        Frame("native", "_PyEval_EvalFrameDefault", "libpython3.11.so", NO_LINE, True),
        Frame("python", "total", "app.py", "/here/app.py:12", False),
        Frame("python", "main", "app.py", "/here/app.py:31", False),
    )
    waiting = (
        Frame("native", "futex_wait", "libc.so.6", NO_LINE, False),
        Frame("python", "Queue.get", "queue.py", "/here/queue.py:171", False),
    )
    threads = (
        Stack(4711, "MainThread", python, "3.11", False),
        Stack(4712, "reader", waiting, "3.11", False),
    )
    return Stacks(4711, "python app.py", threads, 2_000_000)


SCREENS = {
    "browse": (lambda: Browse(report()), ("down", "enter", "down", "enter")),
    "live": (lambda: Live(stacks, "python app.py (4711)", every_s=3600), ("s", "s", "p")),
}


def photographed(app: App[object], keys: tuple[str, ...]) -> str:
    """The screen as SVG, which asks nobody for a font."""

    async def run() -> str:
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause()
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
            return app.export_screenshot(title="inspector")

    return NOT_KEPT.sub("", asyncio.run(run()))


def words(picture: str) -> set[str]:
    """What is written in a picture."""
    return set(unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", picture, flags=re.DOTALL)).split())


@pytest.mark.parametrize("name", SCREENS)
def test_the_picture_of_the_docs_says_what_the_screen_says(name: str) -> None:
    made, keys = SCREENS[name]
    picture, kept = photographed(made(), keys), PICTURES / f"{name}.svg"
    if os.environ.get("INSPECTOR_PICTURES"):
        kept.write_text(picture + "\n")
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", picture).replace("https://www.textualize.io", "")
    assert words(kept.read_text()) == words(picture)
    seen = {"browse": {"big", "Tensor", "DataFrame"}, "live": {"array_sum", "total", "Queue.get"}}
    assert seen[name] <= words(picture)
