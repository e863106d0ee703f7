"""Pictures of memory: the account as an icicle, before and after, and the resident set over time."""

# SPDX-License-Identifier: MIT
import re
import xml.etree.ElementTree as ET

import pytest

from inspector.facts.account import Account, AccountPart, AccountRow, Grown, brief
from inspector.facts.growth import Growth, Moment
from inspector.report import Report
from inspector.views.grammar import Picture
from inspector.views.icicle import WIDTH, icicle
from inspector.views.timeline import timeline

SVG = "{http://www.w3.org/2000/svg}"
BAD = "<script>&\"'"


def account(arrays: int, free: int) -> Account:
    parts = (AccountPart("numpy.ndarray", arrays - 1_000_000, 7), AccountPart(BAD, 1_000_000, 1))
    rows = (
        AccountRow("buffers", arrays, arrays, parts),
        AccountRow("free", free, free, (AccountPart("glibc's malloc", free, 0),)),
    )
    return Account(4711, False, arrays + free, arrays + free, 0, rows, 1)


def rectangles(picture: Picture) -> list[tuple[str, float, float]]:
    """(what a piece says, its y, its width)."""
    found = []
    for group in ET.fromstring(picture.svg).iter(f"{SVG}g"):
        (rect,) = group.iter(f"{SVG}rect")
        assert group.get("tabindex") == "0" and group.findtext(f"{SVG}title") == group.get("aria-label")
        found.append((str(group.get("aria-label")), float(rect.get("y", 0)), float(rect.get("width", 0))))
    return found


def test_pieces_are_to_scale_and_add_up_on_each_level() -> None:
    drawn = rectangles(icicle((account(30_000_000, 10_000_000), account(70_000_000, 10_000_000))))
    assert drawn[0][0] == "before: process 4711, 40 MB"
    levels: dict[float, float] = {}
    for _, y, width in drawn:
        levels[y] = levels.get(y, 0) + width
    first, second = list(levels.values())[:3], list(levels.values())[3:]
    assert first == pytest.approx([(WIDTH - 2) / 2] * 3, abs=0.3)
    assert second == pytest.approx([WIDTH - 2] * 3, abs=0.3)
    said = {name for name, _, _ in drawn}
    assert "arrays and buffers, 70 MB (+40 MB)" in said and "free, kept, 10 MB" in said


def test_what_a_name_contains_is_text() -> None:
    picture = icicle((account(30_000_000, 10_000_000),))
    assert "<script" not in picture.svg and any(BAD in name for name, _, _ in rectangles(picture))
    assert picture.rows == ()  # its table has bars


def test_a_part_of_no_width_is_in_the_table_alone() -> None:
    tiny = account(900_000_000, 100)
    assert not any("free" in name for name, _, _ in rectangles(icicle((tiny,))))


def test_a_terminal_shows_what_each_row_held_and_holds() -> None:
    rows = icicle((account(30_000_000, 20_000_000), account(60_000_000, 10_000_000))).rows
    assert [" ".join("".join(span.text for span in row).split()) for row in rows] == [
        f"arrays and buffers {'█' * 20}{'▓' * 20} 30 MB → 60 MB",
        f"free, kept {'█' * 7}{'░' * 6} 20 MB → 10 MB",
    ]


def test_smaller_parts_are_one_and_the_account_adds_up() -> None:
    parts = tuple(AccountPart(f"t{n}", 1_000 - n, 1) for n in range(50))
    whole = Account(1, True, 48_775, 48_775, 0, (AccountRow("objects", 48_775, 0, parts),), 1)
    (row,) = brief(whole, 8).rows
    assert [len(row.parts), row.parts[-1].name, row.parts[-1].count] == [9, "42 more", 42]
    assert sum(part.resident_bytes for part in row.parts) == row.resident_bytes


def test_time_runs_from_left_to_right_and_each_moment_says_itself() -> None:
    moments = [Moment(n * 10**9, 100_000_000 + n * 10_000_000, "") for n in range(5)]
    picture = timeline(moments)
    dots = ET.fromstring(picture.svg).iter(f"{SVG}circle")
    at = [(float(dot.get("cx", 0)), float(dot.get("cy", 0))) for dot in dots]
    assert at == sorted(at, key=lambda point: (point[0], -point[1])) and len(at) == 5
    said = [group.get("aria-label") for group in ET.fromstring(picture.svg).iter(f"{SVG}g")]
    assert said[1] == "1.0 s: 110 MB"
    (row,) = picture.rows
    assert "".join(span.text for span in row) == "resident ▁▃▅▆█  100 MB → 140 MB  4.0 s"


def test_cells_are_named_and_a_flat_line_is_drawn() -> None:
    picture = timeline([Moment(0, 10**8, ""), Moment(5, 10**8, "In[2]"), Moment(10**9, 10**8, "In[9]")])
    said = [group.get("aria-label") for group in ET.fromstring(picture.svg).iter(f"{SVG}g")]
    assert said[1:] == ["In[2]: 100 MB", "In[9]: 100 MB"]
    assert "2 cells" in "".join(span.text for span in picture.rows[0])


def test_a_report_has_both_pictures_in_a_page_and_fits_a_terminal() -> None:
    both = (account(30_000_000, 10_000_000), account(70_000_000, 10_000_000))
    moments = (Moment(0, 40_000_000, ""), Moment(10**9, 80_000_000, ""))
    fact = Growth(40_000_000, (Grown("buffers", 40_000_000, ""),), (), 1 << 19, 0, 10**9, moments, both)
    report = Report("growth", {"growth": fact})
    page = report.to_html()
    assert len(re.findall("<svg", page)) >= 2 and "<script" not in page
    assert all(len(line) <= 80 for line in str(report).splitlines())
