"""The vocabulary of materialization is the page's, word for word."""

# SPDX-License-Identifier: MIT
import re
from pathlib import Path

import pytest

from inspector.facts.finding import finding
from inspector.facts.materialization import AXES, STATES, Residency

pytestmark = [pytest.mark.core, pytest.mark.quick]
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "materialization.md").read_text()


def test_the_states_are_those_of_the_page_in_its_order() -> None:
    section = PAGE.partition("## States")[2].partition("\n## ")[0]
    assert tuple(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)) == STATES


@pytest.mark.parametrize("axis", AXES)
def test_the_words_of_an_axis_are_those_of_the_page(axis: str) -> None:
    (row,) = re.findall(rf"^\| [^|]+ \| {axis} \| ([^|]+) \|", PAGE, re.MULTILINE)
    assert tuple(re.findall(r"`([^`]+)`", row)) == AXES[axis]


def test_a_finding_has_its_own_words_or_those_of_its_kind() -> None:
    told = finding("large-base", "96 B keep 800 kB alive")
    assert (told.what, told.do) == ("96 B keep 800 kB alive", "x.copy() frees it")
    assert told.page == "docs/messages.md#large-base"


def test_the_amounts_of_a_residency_add_up() -> None:
    pages = Residency("resident", 1, 2, 4, 8, 16, 32, 0, 4096, "pagemap", "pzfsw.")
    assert (pages.span_bytes, pages.resident_bytes) == (63, 13)
