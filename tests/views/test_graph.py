"""The drawing of a graph: the path, a table each way, what is possible marked as such."""

# SPDX-License-Identifier: MIT
from dataclasses import replace

import pytest

from inspector.facts.graph import Edge, Graph, Step
from inspector.facts.unknown import Address
from inspector.report import Report

pytestmark = pytest.mark.quick

EDGE = Edge("x", "global", "notebook", "", Address(16), 2, True, True)


def drawn(up: Step, down: Step) -> str:
    return Report("x", {"graph": Graph("dict", Address(64), ("rows[0]", "x"), up, down)}).to_text()


def test_both_sides_are_tables_under_the_path() -> None:
    text = drawn(Step((EDGE, replace(EDGE, certain=False)), 3, "5 references"), Step((), 0, "nothing"))
    assert "rows[0] → x" in text
    assert "global ×2" in text and "possible  global" in text
    assert "3 more were not inspected" in text and "nothing" in text


def test_evil_and_long_labels_are_cut_and_escaped() -> None:
    text = drawn(Step((replace(EDGE, label="\u202e" + "n" * 1_000_000),), 0, ""), Step((), 0, ""))
    assert "\\u202e" in text and len(text) < 1_000
