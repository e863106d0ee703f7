"""A graph of real objects: both sides, steps by address, objects that are gone, nothing disturbed."""

# SPDX-License-Identifier: MIT
import gc

import numpy as np
import pytest
from fingerprints import fingerprint

from inspector.sessions.graph import graph, step

pytestmark = [pytest.mark.core, pytest.mark.quick]


class Node:
    """With a repr that must not run."""

    def __repr__(self) -> str:
        raise AssertionError("user code ran")


def test_who_holds_it_and_what_it_holds() -> None:
    inner = Node()
    x = {"inner": inner, "list": [1, 2], 3: "three"}
    keeper = [x, x]
    found = graph(x)
    assert found.type_name == "dict" and found.address == id(x)
    ups = {(edge.kind, edge.address): edge for edge in found.held_by.edges}
    assert ("item", id(keeper)) in ups and not ups["item", id(keeper)].root
    downs = {edge.key: edge for edge in found.holds.edges}
    assert set(downs) == {"['inner']", "['list']", "[3]"}
    assert downs["['inner']"].label == "<Node>" and downs["['inner']"].address == id(inner)
    assert downs["[3]"].root, "nothing is asked behind a str"


def test_what_no_traverse_visits_is_held_all_the_same() -> None:
    """NumPy's and memoryview's types report neither base nor exporter."""
    owner = np.zeros((2, 3))
    names = {id(space := {"a": owner, "t": owner.T}): "notebook"}
    (edge,) = graph(space["t"], names=names).holds.edges
    assert (edge.key, edge.kind, edge.address) == ("base", "kept", id(owner))
    assert edge.label == "ndarray a"
    exporter = bytearray(9)
    assert id(exporter) in {edge.address for edge in graph(memoryview(exporter)).holds.edges}
    assert graph(owner).holds.edges == () and "C code may" in graph(owner).holds.says


def test_holders_stand_in_one_order_wherever_they_lie() -> None:
    """Sure before possible, what can be walked on from before a root, by label: not by address."""
    x = ["held"]
    keepers = [{"key": x} for _ in range(20)] + [(x,), [x, 1]]
    edges = graph(x).held_by.edges
    order = [(not edge.certain, edge.root, edge.label, edge.key) for edge in edges]
    assert len(edges) >= len(keepers) and order == sorted(order)


def test_a_step_goes_on_from_an_address_in_both_directions() -> None:
    inner = ["only here"]
    x = {"inner": inner}
    down = step(id(inner), "list", up=False)
    assert [(edge.key, edge.label) for edge in down.edges] == [("[0]", "'only here'")]
    up = step(id(inner), "list", up=True)
    assert id(x) in {edge.address for edge in up.edges}


def test_an_object_that_is_gone_or_another_is_not_followed() -> None:
    x = [1]
    assert step(id(x), "Table", up=False).edges == ()
    assert "any more" in step(16, "list", up=True).says


def test_wide_objects_are_cut_and_counted() -> None:
    x = list(range(10_000))
    found = graph(x).holds
    assert len(found.edges) + found.left_out == 10_000 and len(found.edges) < 100


def test_nothing_is_disturbed() -> None:
    x = {"inner": [1], "node": Node()}
    gc.collect()
    before = fingerprint(x), fingerprint(x["inner"]), fingerprint(x["node"])
    graph(x)
    step(id(x["inner"]), "list", up=True)
    assert (fingerprint(x), fingerprint(x["inner"]), fingerprint(x["node"])) == before
