"""The view of a path: one line a reference, the object at the end."""

# SPDX-License-Identifier: MIT
import pytest

from inspector.facts.chain import Chain
from inspector.facts.refs import Owner
from inspector.facts.unknown import Address, Unknown
from inspector.views.grammar import Fold, Line, Table
from inspector.views.view import view

pytestmark = pytest.mark.quick

NATIVE = Unknown("not native")


def owner(kind: str, holder: str, key: str) -> Owner:
    return Owner(kind, holder, key, 1, True, Address(4096), NATIVE, NATIVE)


def test_a_path_leads_down_to_the_object() -> None:
    owners = (owner("global", "app", "bus"), owner("attribute", "app.Bus", ".x"))
    (fold,) = view(Chain(True, owners, "10 objects"))
    assert isinstance(fold, Fold)
    assert "".join(span.text for span in fold.summary.spans) == "2 steps from app  its global"
    table = fold.blocks[0]
    assert isinstance(table, Table)
    drawn = [["".join(span.text for span in cell) for cell in row] for row in table.rows]
    assert drawn == [["└ bus", "app.Bus", "global"], ["  └ .x", "the object", "attribute"]]


def test_no_path_is_unknown_with_its_reason() -> None:
    (line,) = view(Chain(False, (), "no path from modules"))
    assert isinstance(line, Line) and line.spans[0].text == "? no path from modules"


def test_deep_paths_stop_being_indented() -> None:
    owners = tuple(owner("item", "list (1 item)", "[0]") for _ in range(100))
    (fold,) = view(Chain(True, owners, ""))
    table = fold.blocks[0]  # type: ignore[union-attr]
    assert isinstance(table, Table) and len(table.rows) == 100
    assert len(table.rows[99][0][0].text) == len(table.rows[10][0][0].text)
