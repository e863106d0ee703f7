"""The screen of a report by its pilot: tree, table, search, evil text; what is said where it cannot open."""

# SPDX-License-Identifier: MIT
import asyncio
import os
import pty
import subprocess
import sys
from collections.abc import Awaitable, Callable

import pytest
from textual.widgets import DataTable, Input, Static, Tree

import inspector
from inspector.faces.screens import branches
from inspector.faces.screens.browse import Browse
from inspector.facts.namespace import Namespace, Row
from inspector.facts.unknown import Address
from inspector.report import Report

EVIL = "[bold]\u202e<script>\x1b[31m"


def piloted(app, steps: Callable[..., Awaitable[None]]) -> None:
    """Run the steps on an app that draws to no terminal."""

    async def run() -> None:
        async with app.run_test(size=(100, 40)) as pilot:
            await pilot.pause()
            await steps(pilot)

    asyncio.run(run())


def report() -> Report:
    rows = tuple(Row(f"name{at}", "list", Address(64 * at), 88, 1, "0 items", 0, "") for at in range(700))
    return Report(
        "names", {"namespace": Namespace((Row(EVIL, "list", Address(8), 8, 1, "", 0, ""), *rows), 9, 0)}
    )


def labels(app) -> list[str]:
    found, waiting = [], [app.query_one(Tree).root]
    while waiting:
        node = waiting.pop()
        found.append(str(node.label))
        waiting.extend(node.children)
    return found


@pytest.mark.quick
def test_the_tree_opens_and_a_list_is_a_table_and_long_ones_are_cut() -> None:
    app = Browse(report())

    async def steps(pilot) -> None:
        await pilot.press("down", "enter", "down", "enter")
        await pilot.pause()
        table = app.query_one(DataTable)
        assert table.has_class("shown") and table.row_count == branches.MOST_BRANCHES
        assert any("… 201 more" in label for label in labels(app))
        assert any("\\u202e<script>\\x1b[31m" in label for label in labels(app)), "as text, escaped"

    piloted(app, steps)


def test_a_search_opens_what_it_finds_and_n_goes_on() -> None:
    app = Browse(report())

    async def steps(pilot) -> None:
        await pilot.press("slash", *"name77", "enter")
        await pilot.pause()
        assert "name77" in str(app.query_one(Tree).cursor_node.label)
        first = app.query_one(Tree).cursor_node
        await pilot.press("n")
        await pilot.pause()
        assert app.query_one(Tree).cursor_node is not first
        await pilot.press("slash")
        app.query_one("#search", Input).value = "nowhere at all"
        await pilot.press("enter")
        await pilot.pause()
        assert "nothing was found" in str(app.query_one("#says", Static).content)

    piloted(app, steps)


@pytest.mark.quick
def test_the_card_of_the_chosen_column_is_drawn() -> None:
    app = Browse(inspector.inspect([1, 2], name="x"))

    async def steps(pilot) -> None:
        await pilot.press("down")
        await pilot.pause()
        assert "72 B in all." in str(app.query_one("#drawn", Static).content)
        await pilot.press("down")
        await pilot.pause()
        assert "list (2 items)" in str(app.query_one("#drawn", Static).content)
        await pilot.press("a", "q")

    piloted(app, steps)


def test_a_search_is_bounded_and_in_order() -> None:
    wire = {"a": [{"name": "needle"}, {"name": "b"}], "needle": 1}
    assert list(branches.found(wire, "NEEDLE")) == [("a", "0"), ("a", "0", "name"), ("needle",)]
    deep: dict = {}
    for _ in range(3000):
        deep = {"down": deep}
    assert len(list(branches.found(deep, "down"))) == 3000


COMMAND = "import sys; {before}; from inspector.faces.cli import main; sys.exit(main({words!r}))"


def main(*words: str, before: str = "pass", terminal: bool = False) -> tuple[int, str]:
    """Exit code and words of a command; its streams are a terminal's where asked."""
    command = [sys.executable, "-P", "-c", COMMAND.format(before=before, words=list(words))]
    ours, theirs = pty.openpty()
    stream = theirs if terminal else subprocess.PIPE
    process = subprocess.Popen(command, stdin=stream, stdout=stream, stderr=subprocess.STDOUT, cwd="/")
    os.close(theirs)
    said, _ = process.communicate(timeout=60)
    said = said if said is not None else os.read(ours, 65536)
    os.close(ours)
    return process.returncode, " ".join(said.decode().split())


@pytest.mark.parametrize("words", [("browse", "1"), ("live", "--pid", "1")])
def test_without_textual_it_says_what_to_install(words) -> None:
    code, said = main(*words, before="sys.modules['textual'] = None", terminal=True)
    assert code == 2 and "textual, which is not installed" in said
    assert "pip install 'native-inspector[live]'" in said and "Traceback" not in said


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("browse", "1"), "needs a terminal"),
        (("live", "--pid", "1"), "needs a terminal"),
        (("live",), "a process or a script"),
        (("live", "--pid", "1", "x.py"), "not both"),
        (("live", "--every", "0", "x.py"), "0.1 to 3600"),
    ],
)
def test_what_cannot_be_is_one_sentence(words, what: str) -> None:
    code, said = main(*words)
    assert code == 2 and what in said and "Traceback" not in said


def test_a_process_that_is_not_there_is_said_before_the_screen_opens() -> None:
    code, said = main("live", "--pid", "4194304", terminal=True)
    assert code == 3 and "Traceback" not in said


def test_a_file_that_is_no_report_is_said_before_the_screen_opens(tmp_path) -> None:
    file = tmp_path / "bad.json"
    file.write_text("{")
    code, said = main("browse", str(file), terminal=True)
    assert code == 2 and "not a saved report" in said
