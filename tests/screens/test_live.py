"""The screen of a running process by its pilot: threads, samples, filter, pause, a process that goes."""

# SPDX-License-Identifier: MIT
import asyncio
import subprocess
import sys

import pytest
from textual.widgets import DataTable, Static, Tree

from inspector.errors import TargetGone
from inspector.faces.screens.live import Live
from inspector.facts.stack import Frame, Stack, Stacks
from inspector.facts.unknown import Unknown
from inspector.sessions import running

FRAMES = (
    Frame("native", "PyNumber_Add", "libpython3.so", Unknown("no debug information"), False),
    Frame("python", "work [red]", "app.py", "/here/app.py:7", False),
)


def stacks(frames: tuple[Frame, ...] = FRAMES) -> Stacks:
    return Stacks(7, "python", (Stack(71, "main", frames, "3.11", False),), 2_000_000)


def piloted(app: Live, steps) -> None:
    async def run() -> None:
        async with app.run_test(size=(110, 40)) as pilot:
            await pilot.pause()
            await steps(pilot)

    asyncio.run(run())


def says(app: Live) -> str:
    return str(app.query_one("#says", Static).content)


def lines(app: Live) -> list[str]:
    return [str(leaf.label) for thread in app.query_one(Tree).root.children for leaf in thread.children]


async def sampled(app: Live, pilot) -> None:
    await pilot.press("s")
    await pilot.pause()


@pytest.mark.quick
def test_samples_add_up_and_a_filter_keeps_what_it_names() -> None:
    app = Live(stacks, "python (7)", every_s=3600)

    async def steps(pilot) -> None:
        await sampled(app, pilot)
        assert says(app).startswith("2 samples · it was stopped for 2 ms")
        assert lines(app) == ["C  PyNumber_Add  libpython3.so", "Py work [red]  app.py:7"]
        table = app.query_one(DataTable)
        assert table.row_count == 2 and table.get_row_at(0)[:2] == ["2", "2"]
        assert table.get_row_at(1)[:2] == ["0", "2"]
        await pilot.press("slash", *"work", "enter")
        await pilot.pause()
        assert lines(app) == ["Py work [red]  app.py:7"] and table.row_count == 1
        await pilot.press("p")
        assert says(app).endswith("paused")
        await pilot.press("q")

    piloted(app, steps)


def test_a_process_that_goes_leaves_what_was_seen() -> None:
    answers = [stacks()]

    def look() -> Stacks:
        if answers:
            return answers.pop()
        raise TargetGone("there is no process 7.", slug="no-process")

    app = Live(look, "python (7)", every_s=3600)

    async def steps(pilot) -> None:
        await sampled(app, pilot)
        assert "there is no process 7." in says(app) and "1 sample " in says(app)
        assert len(lines(app)) == 2

    piloted(app, steps)


def test_a_real_process_is_sampled() -> None:
    code = "import sys\ndef deep():\n    print('here', flush=True)\n    sys.stdin.read()\ndeep()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"here\n"
        app = Live(lambda: running.stacks(process.pid), "python", every_s=3600)

        async def steps(pilot) -> None:
            for _ in range(20):  # a look is refused while another thread of this process runs
                if not lines(app):
                    await sampled(app, pilot)
            assert any("deep" in line for line in lines(app)), (says(app), lines(app))

        try:
            piloted(app, steps)
        finally:
            process.kill()
