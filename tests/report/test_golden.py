"""The whole card, word for word, from the facts of a supposed object; none is wider than it may be."""

# SPDX-License-Identifier: MIT
import re

import pytest
import samples
from syrupy.assertion import SnapshotAssertion

from inspector.facts.refs import Owner, Owners, Refs
from inspector.facts.unknown import Address, Unknown
from inspector.report import Report

pytestmark = pytest.mark.quick

BY_PYTHON = Unknown("held by Python, not by native code")


def refs() -> Refs:
    held = (
        Owner("local", "cell 5", "x", 1, True, Address(0x7F00_0000_2000), BY_PYTHON, BY_PYTHON),
        Owner("item", "list (2 items)", "[0]", 1, True, Address(0x7F00_0000_3000), BY_PYTHON, BY_PYTHON),
    )
    unasked = Unknown("memory was not searched: ask for the owners")
    return Refs(3, Owners(3, held, 1, unasked, unasked, unasked, 1_200_000_000), 0)


REPORTS = {
    "view": {
        "object": samples.object_fact(),
        "refs": refs(),
        "buffer": samples.buffer_fact(),
        "layout": samples.layout_fact(),
    },
    "materialization": {"materialization": samples.materialization_fact()},
}


def normalised(text: str) -> str:
    """Each address as 0x001, 0x002 ... in order of appearance, filled so that columns stay."""
    seen: dict[str, str] = {}
    return re.sub(
        r"0x[0-9a-f]{6,}", lambda m: seen.setdefault(m[0], f"0x{len(seen) + 1:03}").ljust(len(m[0])), text
    )


@pytest.mark.parametrize("name", REPORTS)
def test_the_card_of(name: str, snapshot: SnapshotAssertion) -> None:
    report = Report("x", REPORTS[name])
    assert normalised(str(report.drawn(width=80, verbose=True))) == snapshot
    for width in (40, 80):
        drawn = str(report.drawn(width=width, verbose=True))
        assert max(map(len, drawn.splitlines())) <= width


def test_addresses_stay_the_products_own() -> None:
    assert "0x7f0000001000" in str(Report("x", REPORTS["view"]).drawn(verbose=True))
