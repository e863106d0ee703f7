"""The boxes of a container against the container itself; drawn as text and as SVG."""

# SPDX-License-Identifier: MIT
import ctypes
import re
import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import inspector
from inspector import _native
from inspector.facts.boxes import ContentBox
from inspector.objects.probes.held import held as edges_of

pytestmark = [pytest.mark.quick, pytest.mark.core]
INNER = [1, 2]
ARRAY = np.zeros(1000)
SELF: dict[str, Any] = {"k": INNER}
SELF["self"] = SELF
CONTAINERS = {
    "list": [INNER, "text", INNER, ARRAY, {"k": ARRAY}],
    "tuple": (ARRAY, 7, [INNER, 8], None),
    "dict": {"rows": INNER, 3: ARRAY, (1, 2): b"b", "deep": {"more": [INNER]}},
    "itself": SELF,
}


def boxes(x: Any) -> tuple[ContentBox, ...]:
    found = inspector.inspect(x).contents
    assert isinstance(found.boxes, tuple)
    return found.boxes


@pytest.mark.parametrize("kind", CONTAINERS)
def test_each_place_leads_to_what_it_holds(kind: str) -> None:
    x = CONTAINERS[kind]
    found = boxes(x)
    assert int(found[0].address) == id(x) and len(found[0].slots) == len(x)
    assert len({box.address for box in found}) == len(found), "each object once"
    for box in found:
        owner = next(one for one in (x, *held(x)) if id(one) == int(box.address))
        for slot in box.slots:
            value = eval(f"x{slot.key}", {"x": owner})
            if slot.box >= 0:
                assert id(value) == int(found[slot.box].address)
            else:
                assert slot.text == repr(value) or slot.text.startswith(type(value).__name__)


def held(x: Any) -> list[Any]:
    return list(x.values()) if type(x) is dict else list(x)


def test_the_largest_items_of_a_long_list_have_their_own_index() -> None:
    """The collector visits a list from its end: its order is not that of the items."""
    x = [*range(20), ARRAY, *range(9)]
    items = inspector.inspect(x).contents.items
    assert items[0].key == "[20]" and items[0].address == id(ARRAY)


def test_a_look_leaves_nothing_behind() -> None:
    one = [INNER, ARRAY, (INNER, ARRAY)]
    before = [sys.getrefcount(each) for each in (one, *one)]
    inspector.inspect(one)
    assert [sys.getrefcount(each) for each in (one, *one)] == before


def test_shared_parts_are_drawn_once_and_numbered() -> None:
    x = CONTAINERS["list"]
    rows = [line.split() for line in inspector.inspect(x).to_text().splitlines() if "▸" in line]
    assert [row[2] for row in rows] == ["①", "①", "②", "dict"] and rows[-1][-1] == "②"
    (drawing,) = re.findall(r"<svg.*</svg>", inspector.inspect(x).to_html())
    svg = ElementTree.fromstring(drawing)
    assert len([one for one in svg.iter() if one.tag.endswith("path")]) == 5
    assert svg.get("role") == "img" and "[3] refers to" in str(svg.get("aria-label"))


def test_secrets_stay_hidden_and_hostile_names_are_escaped() -> None:
    pairs = [("token", "t0ps3cret"), ("name", "shown")]
    x = {"password": "hunter2", "rows": [{"token": "t0ps3cret"}], "passwords": ["hunter2"], "n": INNER}
    for one in (x, pairs, {"headers": ("Authorization", "hunter2")}, (("api_key", "hunter2"), INNER)):
        found = inspector.inspect(one)
        for shown in (found.to_html(), found.to_json(), found.to_text()):
            assert "hunter2" not in shown and "t0ps3cret" not in shown
    assert "shown" in inspector.inspect(pairs).to_text()
    password = [INNER, "hunter2"]
    assert "hunter2" not in inspector.inspect(password).to_html()
    hostile = {"<script>": ["<b>&"], "n": INNER}
    page = inspector.inspect(hostile).to_html()
    assert "<script" not in page and "<b>" not in page


def test_constants_alone_and_long_lists_are_no_drawing() -> None:
    assert boxes([1, 2, "three", None]) == ()
    assert boxes([[] for _ in range(9)]) == ()


def test_places_that_c_code_left_empty_are_not_read() -> None:
    new = ctypes.pythonapi.PyList_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_ssize_t]
    half = new(3)
    assert boxes([half, INNER])[1].slots == ()
    assert edges_of(_native.Subject(half)).edges == ()
