"""A part of a trace by what is asked, the difference of two traces, a timeline's windows."""

# SPDX-License-Identifier: MIT
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import inspector as command

import inspector
from inspector.report import Report

pytestmark = pytest.mark.quick
ROWS = [1.5] * 1000


@pytest.fixture(scope="module")
def traces() -> tuple[Any, Any]:
    with inspector.trace("numpy") as before:
        small = np.array([1.0, 2.0])
        np.array(ROWS).tolist()
    with inspector.trace("numpy") as after:
        small.copy()
        for _ in range(3):
            np.array(ROWS).tolist()
    return before, after


def names(trace: Any) -> list[str]:
    return [call.name for call in trace.calls]


def test_by_function_bytes_time_and_thread(traces: tuple[Any, Any]) -> None:
    before = traces[0]
    assert names(before.only()) == ["numpy.array", "numpy.array", "numpy.ndarray.tolist"]
    assert names(before.only("*.tolist")) == ["numpy.ndarray.tolist"]
    assert names(before.only("numpy.ndarray")) == ["numpy.ndarray.tolist"]
    part = before.only("numpy.array", least_bytes=4096)
    assert names(part) == ["numpy.array"] and [copy.copied_bytes for copy in part.copies] == [8000]
    slowest = max(call.ns for call in before.calls)
    assert len(names(before.only(least_ns=slowest))) == 1 and not names(before.only(least_ns=slowest + 1))
    assert len(names(before.only(thread=threading.get_ident()))) == 3 and not names(before.only(thread=1))
    assert before.only("nothing.*").copies == ()


def test_the_difference_of_two(traces: tuple[Any, Any]) -> None:
    before, after = traces
    told = (after - before).trace_difference
    rows = {(row.function, row.text): row for row in told.changes}
    tolist = rows["numpy.ndarray.tolist", "np.array(ROWS).tolist()"]
    assert (tolist.calls_before, tolist.calls_after) == (1, 3)
    array = rows["numpy.array", "np.array(ROWS)"]
    assert (array.copied_bytes_before, array.copied_bytes_after) == (8000, 24_000)
    assert rows["numpy.ndarray.copy", "small.copy()"].calls_before == 0
    assert (before - before).trace_difference.changes == ()
    text = str(Report("difference", {"trace_difference": told}))
    assert "8.0 kB → 24 kB" in text and max(map(len, text.splitlines())) <= 80


def test_the_terminal(traces: tuple[Any, Any], tmp_path: Path) -> None:
    first, second = tmp_path / "a.trace", tmp_path / "b.parquet"
    traces[0].save(first)
    traces[1].save(second)
    ran = command("diff", str(first), str(second))
    assert ran.returncode == 1 and "1 → 3" in ran.stdout, ran.stderr
    assert command("diff", str(first), str(first)).returncode == 0
    script = tmp_path / "app.py"
    script.write_text("import numpy as np\na = np.array([1.5] * 1000)\na.tolist()\n")
    ran = command("trace", "--only", "*.tolist", "--of", "numpy", str(script))
    assert "a.tolist()" in ran.stdout and "np.array(" not in ran.stdout, ran.stderr


@pytest.fixture(scope="module")
def trace():
    rows = [float(i) for i in range(20_000)]
    with inspector.trace("numpy") as made:
        for _ in range(50):
            np.asarray(rows[:100])
        np.asarray(rows)
    return made


def test_the_whole_accounts_for_every_event(trace) -> None:
    fact = trace.timeline()
    assert fact.begin_ns == 0 and fact.end_ns == fact.whole_ns > 0
    assert sum(box.times for box in fact.boxes) + fact.left_out == fact.events
    assert sum(box.times for box in fact.boxes if box.times > 1) <= fact.merged
    assert 0 < len(fact.boxes) <= 1_500 < fact.events
    assert any("asarray" in box.name for box in fact.boxes)


def test_a_window_has_the_events_in_it_and_tells_more_apart(trace) -> None:
    whole = trace.timeline()
    part = trace.timeline(0, whole.whole_ns // 10)
    assert (part.begin_ns, part.end_ns) == (0, whole.whole_ns // 10)
    assert 0 < part.events < whole.events
    assert all(box.start_ns < part.end_ns for box in part.boxes)


@pytest.mark.parametrize("window", [(10, 10), (10, 5), (-5, 5)])
def test_a_window_that_is_none_is_the_whole(trace, window) -> None:
    assert trace.timeline(*window) == trace.timeline()


def test_a_trace_without_events_has_an_empty_timeline() -> None:
    with inspector.trace("numpy") as made:
        pass
    assert made.timeline().boxes == ()


def test_lines_of_two_traces_beside_each_other(tmp_path: Path) -> None:
    """A line that copies no more, one that is new, one that only moved."""
    start = "import numpy as np\nx = np.arange(1000.0)\n"
    scripts = {
        "before": "y = x.copy()\nz = x.astype('f4')\n",
        "after": "\n\nz = x.astype('f4')\ny = x[:]\nw = z.tolist()\n",
    }
    for name, rest in scripts.items():
        (tmp_path / "app.py").write_text(start + rest)
        done = command("trace", "--out", str(tmp_path / name), str(tmp_path / "app.py"))
        assert done.returncode == 0, done.stderr
    said = command("diff", str(tmp_path / "before"), str(tmp_path / "after")).stdout
    assert said.splitlines()[0].strip() == "8.0 kB copied, 4.0 kB less than before."
    rows = [" ".join(row.split()) for row in said.splitlines()]
    assert "6 y = x[:] copied → view 8.0 kB → 0 B" in rows
    assert "7 w = z.tolist() new line → copied 0 B → 4.0 kB" in rows
    assert not any("astype" in row for row in rows[:5])


def test_no_copy_in_either_trace_is_said_with_what_was_looked_at() -> None:
    with inspector.trace("numpy") as before:
        x = np.arange(100.0)
        x[:50].sum()
    (said,) = (before - before).answers.rows
    assert said.text == f"No copy was seen in {before.events:,} records; before, none in {before.events:,}."
    assert not said.certain
