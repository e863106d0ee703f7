"""The first sentence of breakpoints: how often, and from which lines."""

# SPDX-License-Identifier: MIT
import pytest

from inspector.facts.stack import Frame, Hit, Hits, PlaceCount, Stack
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.hits import of_hits

pytestmark = [pytest.mark.core, pytest.mark.quick]
ARGUMENTS = Unknown("not asked")


def hit(number: int, *lines: str) -> Hit:
    frames = tuple(Frame("python", "f", line, line, False) for line in lines)
    return Hit(number, "PyArray_Sum", 0, ARGUMENTS, Stack(1, "python", frames, "3.11", False))


def said(hits: tuple[Hit, ...], total: int, says: str = "", locations: int = 1) -> list[str]:
    place = PlaceCount("PyArray_Sum", locations, total, says)
    return [one.text for one in of_hits(Hits((place,), hits, 0, 0, 0, ""))]


def test_calls_are_told_by_the_innermost_line_of_the_user() -> None:
    library = "/x/site-packages/numpy/__init__.py:822"
    hits = (hit(1, library, "/home/app.py:3"), hit(2, "/home/app.py:3"), hit(3, library))
    assert said(hits, 3) == ["3 calls of `PyArray_Sum`: 2 from app.py:3, 1 from no line of yours."]


def test_hits_that_were_not_recorded_are_told() -> None:
    (text,) = said((hit(1, "/home/app.py:3"),), 5, "budget of 1 hit reached")
    assert text == "At least 5 calls of `PyArray_Sum`; of 1 that were recorded: 1 from app.py:3."


def test_none_says_what_was_looked_at_and_an_unknown_place_says_nothing() -> None:
    (text,) = said((), 0)
    assert text == (
        "No call of `PyArray_Sum` was seen in the threads that were watched; "
        "not looked at: calls that a compiler inlined."
    )
    assert said((), 0, "no loaded library has a function of this name", 0) == []
