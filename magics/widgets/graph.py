"""Live view of an object's references: holders to the left, what it holds to the right, opened stepwise."""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping
from typing import Any, Final

from inspector.magics.widgets.base import View, amount, said

from inspector.facts.graph import Edge, Graph, Step
from inspector.report import Report
from inspector.sessions import graph

MOST_NODES: Final = 20_000
"""Nodes whose types one view remembers; no more steps are answered beyond."""


def open_view(fact: Graph, report: Report, names: Mapping[int, str] | None = None) -> View:
    """The view of a graph. Steps read the heap at that time, and only from addresses that were sent."""
    known: dict[str, tuple[int, str]] = {}

    def sent(step: Step) -> dict[str, Any]:
        edges = [_edge(edge) for edge in step.edges]
        for edge, row in zip(step.edges, edges, strict=True):
            if not edge.root and len(known) < MOST_NODES:
                known[row["at"]] = (edge.address, edge.type_name)
        return {"edges": edges, "left_out": amount(step.left_out), "says": said(step.says, 200)}

    def neighbours(asked: Mapping[str, Any]) -> Mapping[str, Any]:
        at = asked.get("at")
        if type(at) is not str or at not in known:
            return {"refused": "this view has no such node"}
        address, type_name = known[at]
        return {"step": sent(graph.step(address, type_name, asked.get("up") is True, names=names))}

    scene = {
        "name": said(report.name, 40),
        "type": said(fact.type_name, 40),
        "address": f"{fact.address:#x}",
        "path": [said(step, 60) for step in fact.path],
        "up": sent(fact.held_by),
        "down": sent(fact.holds),
    }
    return View("graph.js", scene, report, neighbours=neighbours)


def _edge(edge: Edge) -> dict[str, Any]:
    return {
        "key": said(edge.key, 40),
        "kind": edge.kind,
        "label": said(edge.label, 60),
        "at": f"{edge.address:#x}",
        "times": amount(edge.references),
        "sure": edge.certain,
        "root": edge.root,
    }
