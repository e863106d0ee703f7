"""A loop whose statements are looked at no more runs without line events, and what follows it is seen."""

# SPDX-License-Identifier: MIT
import sys
import time
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

import inspector

BEGINNING = "import numpy as np\na = np.arange(4000.0)\n"
LOOP = "for i in range(90):\n    b = a + i\n"
STOP = "    if i == 50:\n        "
IN_F = "def f():\n    for i in range(90):\n        "
ENDS = {
    "exhausted": LOOP + "c = a\n",
    "break": LOOP + STOP + "break\nc = a\n",
    "else": LOOP + "else:\n    b = 1\nc = a\n",
    "return": IN_F + "b = a + i\n        if i == 50:\n            return b\nf()\nc = a\n",
    "raised": f"try:\n{indent(LOOP + STOP + 'a[-9999]', '    ')}\nexcept IndexError:\n    c = a\n",
    "caught within": LOOP + "    try:\n        a[9999]\n    except IndexError:\n        b = 1\nc = a\n",
    "nested": f"n = 0\nwhile n < 90:\n    n += 1\n{indent(LOOP, '    ')}c = a\n",
    "in a with": f"import io\nwith io.StringIO() as f:\n{indent(LOOP, '    ')}    c = a\n",
    "generator": IN_F + "yield a + i\nfor b in f():\n    d = b[:9]\nc = a\n",
    "function called within": "def f(x):\n    c = x\n    return c\n" + LOOP + STOP + "f(a)\n",
    "long": LOOP + "    b = a + i\n" * 200 + "c = a\n",  # its FOR_ITER has a wide argument
}


@pytest.mark.core
@pytest.mark.parametrize("text", ENDS.values(), ids=ENDS)
def test_a_statement_after_a_worn_loop_is_seen(text: str, tmp_path: Path) -> None:
    """`c = a` calls nothing: only a line event can tell it."""
    path = tmp_path / "app.py"
    path.write_text(BEGINNING + text)
    names: dict[str, Any] = {"__name__": "__main__"}
    with inspector.trace() as trace:
        exec(compile(path.read_text(), str(path), "exec"), names)
    lines = path.read_text().splitlines()
    line = next(number for number, one in enumerate(lines, 1) if one.strip().startswith("c = "))
    row = trace.lines["app.py", line]
    assert (row.target, row.verdict) == ("c", "same object")


@pytest.mark.core
def test_the_iterator_and_its_order_are_the_programs_own() -> None:
    """The loop takes the same items, holds the iterator as long, and drops it where it ends."""

    class Items:
        def __init__(self) -> None:
            self.count = 0

        def __iter__(self) -> "Items":
            return self

        def __next__(self) -> int:
            self.count += 1
            if self.count > 60:
                raise StopIteration
            return self.count

        def __del__(self) -> None:
            told.append("dropped")

    told: list[str] = []
    counts: list[int] = []
    with inspector.trace():
        items = Items()
        for one in items:
            counts.append(sys.getrefcount(items))
        for one in Items():
            if one == 50:
                break
        told.append("after")
    assert counts == [counts[0]] * 60
    assert told == ["dropped", "after"]


@pytest.mark.core
def test_a_worn_loop_costs_little_more_than_bare() -> None:
    """Its lines took 3.4 times as long on 3.11, where each instruction went through the trace function."""

    def worked() -> float:
        begun = time.process_time()
        count = 0
        for i in range(100_000):
            if i % 3 == 0:
                count += i
            else:
                count -= 1
        return time.process_time() - begun

    bare = min(worked() for _ in range(9))
    with inspector.trace():
        watched = min(worked() for _ in range(9))
    assert watched < 2 * bare
