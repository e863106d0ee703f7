"""What a live view sends to its page: sizes that are no numbers are words, there and in its text."""

# SPDX-License-Identifier: MIT
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from inspector.magics.widgets import base, changes, graph, layers, memory_map, strides, timeline

import inspector
from inspector.facts.conversion import Copy, Site, Trace
from inspector.facts.graph import Edge, Graph, Step
from inspector.facts.heap import Difference, NameChange, TypeChange
from inspector.facts.memory import Range
from inspector.facts.memory_map import MemoryMap
from inspector.facts.namespace import Namespace, Row
from inspector.facts.unknown import Address, Unknown
from inspector.report import Report

pytestmark = pytest.mark.quick

NO = Unknown("supposed")
LINE = Site("a.py", 1, "f", 1, "call()")


def scenes(size: float) -> dict[str, tuple[object, Report]]:
    """Each view's scene and report where every size it is told is `size`."""
    spans = (Range(Address(4096), Address(8192)),)
    row = Row("x", "ndarray f8", Address(4096), size, 1, "owned", 0, "", size, spans)
    mapped = MemoryMap(Namespace((row,), size, 0, size))
    names = (NameChange("x", "born", "list", 1, size), NameChange("y", "gone", "list", 1, size))
    moved = Difference(size, size, size, (TypeChange("list", size, size),), names, 1)
    copy = Copy("copied", size, size, "certain", "", "", "f", 1, NO, "list", "ndarray", LINE)
    trace = Trace((), 0, (copy,), NO, (), (), 1, 0, 1, "record")
    looked = inspector.inspect(np.zeros((3, 4)), name="x")
    state = replace(looked.facts["materialization"], logical_bytes=size, resident_bytes=size)
    layout = looked.facts["layout"]
    edge = Edge("x", "name", "list", "list", Address(4096), size, True, False)
    reached = Graph("list", Address(4096), (), Step((edge,), size, ""), Step((edge,), size, ""))
    graphed = Report("x", {"graph": reached})
    return {
        "graph": (graph.open_view(reached, graphed).scene, graphed),
        "map": (memory_map.scene(mapped), Report("x", {"map": mapped})),
        "changes": (changes.scene(moved), Report("x", {"difference": moved})),
        "trace": (timeline.scene(trace), Report("x", {"trace": trace})),
        "layers": (layers.scene(state, "x"), Report("x", {"materialization": state})),
        "strides": (strides.scene(layout, looked), looked),
    }


@pytest.mark.parametrize("size", [math.nan, math.inf, -math.inf], ids=str)
def test_a_size_that_is_no_number_is_a_word_on_the_page_and_in_the_text(size: float) -> None:
    for name, (scene, report) in scenes(size).items():
        sent = json.dumps(scene, allow_nan=False)
        assert ("? " in sent) == (name != "strides"), f"{name}: nothing of it was a size"
        report.to_text()
        report._repr_mimebundle_()


def test_a_size_that_is_a_number_stays_one() -> None:
    for name, (scene, _) in scenes(4096).items():
        assert "?" not in json.dumps(scene), name
    assert base.amount(math.nan) == "? nan" and base.amount(True) == "True"
