"""The drawing of a namespace: brackets around sharers, the total, the rest counted."""

# SPDX-License-Identifier: MIT
import pytest

from inspector.facts.materialization import NO_BYTES
from inspector.facts.namespace import Namespace, Row
from inspector.facts.unknown import Address, Immortal
from inspector.report import Report

pytestmark = pytest.mark.quick


def row(name: str, bytes: int, group: int = 0, shares: str = "", **other: object) -> Row:
    fields = {"type_name": "ndarray f8", "references": 2, "state": "view" if shares else "owned"}
    fields |= {"resident_fraction": 1.0} | other
    return Row(name=name, address=Address(4096), bytes=bytes, group=group, shares=shares, **fields)  # type: ignore[arg-type]


def drawn(fact: Namespace) -> str:
    return "\n".join(line.rstrip() for line in Report("names", {"namespace": fact}).to_text().splitlines())


def test_it_is_drawn_as_sketched() -> None:
    rows = (
        row("big", 800_000, group=1),
        row("x", 96, group=1, shares="of big"),
        row("tail", 8000, group=1, shares="of big"),
        row("z", 1_600_000_000, state="reserved-not-resident", resident_fraction=0.0),
        row("n", 28, type_name="int", references=Immortal, state="", resident_fraction=NO_BYTES),
    )
    assert drawn(Namespace(rows, 1_600_800_028, 3)) == (
        " name  type         bytes  refs  state                   here  shares\n"
        " big   ndarray f8  800 kB     2  owned                  100 %  ┬ x tail\n"
        " x     ndarray f8    96 B     2  view                   100 %  ├ of big\n"
        " tail  ndarray f8  8.0 kB     2  view                   100 %  ┘ of big\n"
        " z     ndarray f8  1.6 GB     2  reserved-not-resident    0 %\n"
        " n     int           28 B     ∞\n"
        " in all   1.6 GB  each byte counted once  … 3 more names (--all)"
    )


def test_many_sharers_are_counted() -> None:
    rows = (row("a", 9, group=1), *(row(name, 1, group=1, shares="of a") for name in "bcdefg"))
    assert "┬ b c d +3" in drawn(Namespace(rows, 9, 0))


def test_an_empty_namespace_says_so() -> None:
    assert "none" in drawn(Namespace((), 0, 0))
