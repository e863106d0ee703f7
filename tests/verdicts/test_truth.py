"""What answers claim is tried: random views are written, and who sees it is compared with what was said."""

# SPDX-License-Identifier: MIT
import random
import re
from typing import Any

import numpy as np
import pytest

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]

ROUNDS = 300


def step(x: np.ndarray, dice: random.Random) -> np.ndarray:
    """A random view of `x`, or sometimes a copy."""
    kind = dice.randrange(9)
    if kind < 4 and x.ndim:
        axis = dice.randrange(x.ndim)
        n = x.shape[axis]
        start, stop = sorted((dice.randrange(n + 1), dice.randrange(n + 1)))
        index: list[Any] = [slice(None)] * x.ndim
        index[axis] = slice(start, stop, dice.choice((1, 2, 3)))
        return x[tuple(index)][::-1] if dice.random() < 0.2 else x[tuple(index)]
    if kind == 4:
        return x.T
    if kind == 5:
        return x.reshape(-1)
    if kind == 6 and x.ndim:
        return x[0] if x.shape[0] else x
    if kind == 7:
        return x[np.newaxis]
    return x.copy() if dice.random() < 0.2 else x.view()


def claims(report: Any) -> dict[str, str]:
    return {row.slug: row.text for row in report.answers.rows}


def test_random_views_of_an_array() -> None:
    said_view = 0
    for round_ in range(ROUNDS):
        dice = random.Random(round_)
        a = np.arange(dice.choice((60, 24, 120)), dtype=dice.choice(("f8", "i4", "u1"))).reshape(-1, 6)
        b = a
        for _ in range(dice.randrange(1, 4)):
            b = step(b, dice)
        if b is a:
            continue
        told = claims(inspector.inspect(b, name="b"))
        shared = np.shares_memory(a, b)
        if "write-changes" in told:
            before = a.copy()
            assert shared, (round_, told)
            b[...] = b + 1
            assert "`a`" in told["write-changes"], (round_, told)
            assert not np.array_equal(a, before), (round_, told)
        if "owner" in told:
            assert not shared and b.flags.owndata, (round_, told)
        if "view-of" in told and "`a`" in told["view-of"]:
            said_view += 1
            assert shared or not b.size, (round_, told)
            check_part(a, b, told["view-of"], round_)
        copied = told.get("c-code-copies", "")
        assert bool(copied) == (not b.flags.c_contiguous and b.size > 0), (round_, told)
    assert said_view > ROUNDS / 4


def check_part(a: np.ndarray, b: np.ndarray, text: str, round_: int) -> None:
    """The values of `b` are those of the rows and columns that the sentence names."""
    rows, columns = part(text, "row", a.shape[0]), part(text, "column", a.shape[1])
    if "bytes" in text or "element" in text or "B of its" in text or " kB of its" in text:
        return
    expected = np.sort(a[np.ix_(rows, columns)].ravel())
    assert np.array_equal(np.sort(b.ravel()), expected), (round_, text, b)


def part(text: str, noun: str, length: int) -> list[int]:
    """The indices that the words for one axis name."""
    if found := re.search(rf"every (\d+)\w\w {noun}(?: from (\d+)(?: (down )?to (\d+))?)?", text):
        every, start, down, last = int(found[1]), int(found[2] or 0), found[3], found[4]
        if down:
            return list(range(start, int(last) - 1, -every))
        return list(range(start, int(last) + 1 if last else length, every))
    if found := re.search(rf"{noun}s (\d+) (down )?to (\d+)", text):
        first, last = int(found[1]), int(found[3])
        return list(range(first, last - 1, -1)) if found[2] else list(range(first, last + 1))
    if found := re.search(rf"{noun} (\d+)", text):
        return [int(found[1])]
    return list(range(length))


def test_read_only_is_said_only_of_what_refuses_a_write() -> None:
    fixed = bytes(range(200))
    locked = np.arange(10.0)
    locked.flags.writeable = False
    views: list[np.ndarray] = [
        np.frombuffer(fixed, "u1"),
        np.frombuffer(bytearray(fixed), "u1")[::2],
        np.broadcast_to(np.arange(4.0), (3, 4)),
        locked[::2],
        np.arange(10.0)[::2],
    ]
    for x in views:
        told = claims(inspector.inspect(x, name="x"))
        if "read-only" in told:
            with pytest.raises(ValueError, match="read-only"):
                x[...] = 0
        if "write-changes" in told or "write-copies" in told:
            x[...] = 0
