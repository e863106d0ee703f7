"""Hits and stacks as lines: equal stacks counted together, plumbing folded, trouble said last."""

# SPDX-License-Identifier: MIT
import pytest

from inspector.facts.stack import Argument, Frame, Hit, Hits, PlaceCount, Stack, Stacks
from inspector.facts.unknown import Unknown
from inspector.report import Report

pytestmark = [pytest.mark.core, pytest.mark.quick]


def frame(kind: str, name: str, plumbing: bool = False) -> Frame:
    return Frame(kind, name, "x.so", "x.c:1", plumbing)  # type: ignore[arg-type]


def drawn(hits: tuple[Hit, ...], ended: str = "", dropped: int = 0) -> str:
    places = (PlaceCount("probe", 1, len(hits) + dropped, ""),)
    return Report("breaks", {"breaks": Hits(places, hits, dropped, 10**9, 10**6, ended)}).to_text()


def hit(number: int, value: str | Unknown, *frames: Frame) -> Hit:
    argument = Argument("n", "int", value, "debug")
    return Hit(number, "probe", number, (argument,), Stack(7, "main", frames, "3.11.7", False))


def test_equal_stacks_are_counted_together_and_plumbing_is_folded() -> None:
    frames = (
        frame("native", "probe"),
        frame("native", "a", True),
        frame("native", "b", True),
        frame("python", "f"),
    )
    text = drawn(tuple(hit(n, str(n), *frames) for n in range(1, 6)))
    assert "5 hits of 1 place" in text and "×5" in text
    assert "n=1 | 2 | 3 | …" in text
    assert "2 frames of plumbing" in text
    assert "Py  f" in text


def test_what_went_wrong_is_said() -> None:
    text = drawn((hit(1, Unknown("optimized out"), frame("native", "probe")),), "gdb ended by signal 9", 3)
    assert "n=? optimized out" in text
    assert "3 hits were counted and not recorded" in text
    assert text.rstrip().endswith("gdb ended by signal 9")


def test_a_process_without_a_python_frame_says_so() -> None:
    text = Report("stacks", {"stacks": Stacks(7, "host", (), 10**6)}).to_text()
    assert "host (7)  0 threads" in text
    assert "no thread runs Python now" in text and "pystack" in text
