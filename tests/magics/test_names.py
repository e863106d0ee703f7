"""The sum of the table of names is true: history, names with an underscore, the last traceback."""

# SPDX-License-Identifier: MIT
import re

import pytest

from inspector.facts.answers import Answer
from inspector.objects.reach import globals

pytestmark = [pytest.mark.core, pytest.mark.quick]
np = pytest.importorskip("numpy")


@pytest.fixture
def table(shell):
    """`table()`: the report of `%inspect`."""
    shell.user_ns["np"] = np
    return lambda: shell.run_line_magic("inspect", "")


@pytest.fixture(autouse=True)
def other_tests(monkeypatch) -> None:
    """Their modules are in this process, and are no user's."""
    monkeypatch.setattr(globals, "_modules", lambda: iter(()))


def told(report) -> list[Answer]:
    return list(report.namespace.answers)


def test_what_out_keeps_is_named_and_what_is_told_lets_it_go(shell, table) -> None:
    """IPython keeps the last result among its hidden names too, where `%reset out` leaves it."""
    number = shell.execution_count
    shell.run_cell("import weakref\nclass Own(np.ndarray): pass")
    shell.run_cell("big = np.ones(500_000).view(Own); alive = weakref.ref(big)\nbig", store_history=True)
    shell.run_cell("del big")
    said = told(table())[1]
    assert said.text == (
        f"4.0 MB more are held by `Out[{number}]`: `%reset out` and then "
        "`get_ipython().push({'_': 0}, False)` free them."
    )
    assert "user_ns_hidden" not in str(table())
    shell.run_cell("%reset -f out")
    assert shell.user_ns["alive"]() is not None
    assert table().namespace.kept[0].place == "user_ns_hidden['_']"
    shell.run_cell(said.do.partition(", then ")[2])
    assert shell.user_ns["alive"]() is None
    assert [one.slug for one in told(table())] == ["names-hold"]


def test_a_name_that_begins_with_an_underscore_is_the_users_own(shell, table) -> None:
    shell.run_cell("_cache = np.ones(500_000)")
    assert [(row.name, row.bytes) for row in table().namespace.rows] == [("_cache", 4_000_000)]
    shell.run_cell("[1, 2]", store_history=True)
    assert len(table().namespace.rows) == 1, "neither _ nor _1"


def test_the_last_traceback_is_named_by_the_variable_until_the_next_error(shell, table) -> None:
    shell.run_cell("import gc, weakref\nclass Own(np.ndarray): pass")
    shell.run_cell(
        "def f():\n    global alive\n    huge = np.ones(500_000).view(Own)\n"
        "    alive = weakref.ref(huge)\n    raise ValueError\n\nf()"
    )
    assert [one.text for one in told(table())[1:]] == [
        "4.0 MB: `huge`, a local of f, kept by the traceback in sys.last_traceback until the next error "
        "and `gc.collect()`."
    ]
    shell.run_cell("1/0")
    assert [one.slug for one in told(table())] == ["names-hold"]
    shell.run_cell("gc.collect();")
    assert shell.user_ns["alive"]() is None


def test_the_books_close_with_the_memory_of_the_process(shell, table) -> None:
    import psutil

    shell.run_cell("held = {'k': [np.ones(2_000_000)]}")
    fact = table().namespace
    assert fact.rss_bytes == pytest.approx(psutil.Process().memory_info().rss, rel=0.05)
    assert 16_000_000 <= fact.ram_bytes < 16_200_000
    last = str(table()).splitlines()[-1]
    assert last.startswith(" process  ")
    assert last.endswith("not looked at")


def test_two_hundred_names_take_less_than_a_fifth_of_a_second(shell, table) -> None:
    import time

    shell.user_ns |= {f"v{i}": [np.ones(100), {"k": list(map(float, range(500)))}] for i in range(200)}
    table()
    begun = time.thread_time()
    table()
    assert time.thread_time() - begun < 0.2


def test_the_first_sentence_is_the_sum_and_who_shares(shell, table) -> None:
    shell.run_cell("import numpy as np\na = np.ones(100_000)\nb = a[::2]\nc = a[1:]\nlone = np.ones(50_000)")
    said, rows = table().namespace.answers[0], table().namespace.rows
    assert re.fullmatch(r"\d names hold 1.2 MB: `a`, `[bc]` and `[bc]` share memory.", said.text)
    assert int(said.text[0]) >= len(rows) and said.costs_bytes == table().namespace.total_bytes >= 1_200_000


def test_the_heap_leads_to_the_largest_objects_and_who_holds_them(shell, table) -> None:
    shell.run_cell("held = {'k': [np.ones(2_000_000)]}")
    said = str(shell.run_line_magic("inspect", "--heap"))
    assert re.search(r"16 MB +ndarray +held\['k'\]\[0\]", said), said
