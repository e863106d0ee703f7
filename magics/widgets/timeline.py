"""Live view of a trace: a timeline, a tree of calls, and the copies."""

# SPDX-License-Identifier: MIT
import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Final

from inspector.magics.widgets.base import View, amount, fitting, said

from inspector.facts.conversion import Call, Copy, Site, Trace
from inspector.facts.timeline import Timeline
from inspector.facts.unknown import Unknown
from inspector.report import Report
from inspector.sessions.trace import Traced

MOST_NODES: Final = 100_000
MOST_COPIES: Final = 2_000
NODES_A_COPY: Final = 8
"""How many nodes take the space of one copy's row, which has reasons; used where not all fits."""
LONGEST_NS: Final = 1 << 62


def open_view(fact: Trace, report: Report, trace: Traced | None = None) -> View:
    """The view of a trace; with `trace` it has a timeline and can ask for windows of it."""
    drawn = fitting(lambda most: scene(fact, most), MOST_NODES, report.everything)
    if trace is None:
        return View("timeline.js", drawn, report)
    whole = _timeline(trace.timeline())

    def window(asked: Mapping[str, Any]) -> Mapping[str, Any]:
        begin, end = (_ns(asked.get(name)) for name in ("begin", "end"))
        all_of_it = begin == 0 and end >= whole["end"]  # not computed twice: it may have a million events
        return {"timeline": whole if all_of_it else _timeline(trace.timeline(begin, end))}

    return View("timeline.js", drawn | {"timeline": whole}, report, window=window)


def _ns(value: object) -> int:
    """A time in ns that a page sent; -1 (the whole trace) for anything invalid."""
    return value if type(value) is int and 0 <= value < LONGEST_NS else -1


def _timeline(fact: Timeline) -> dict[str, Any]:
    names = list(dict.fromkeys(box.name for box in fact.boxes))
    number = {name: at for at, name in enumerate(names)}
    return {
        "begin": fact.begin_ns,
        "end": fact.end_ns,
        "whole": fact.whole_ns,
        "events": fact.events,
        "merged": fact.merged,
        "left_out": fact.left_out,
        "untimed": fact.untimed,
        "names": [said(name, 60) for name in names],
        "boxes": [
            [one.start_ns, one.duration_ns, one.depth, number[one.name], one.times] for one in fact.boxes
        ],
    }


def scene(fact: Trace, most: int = MOST_NODES) -> dict[str, Any]:
    """The tree as columns, tables of names and lines that they number, and the rows of copies."""
    numbers = _Numbers()
    nodes = list(itertools.islice(_nodes(fact.calls), most))
    largest = sorted(fact.copies, key=lambda copy: -copy.copied_bytes)
    copies = largest[: min(MOST_COPIES, max(most // NODES_A_COPY, 1))]
    tree = {
        "depth": [node[0] for node in nodes],
        "label": [numbers.name(node[1]) for node in nodes],
        "site": [numbers.site(node[2]) for node in nodes],
        "times": [node[3] for node in nodes],
        "ns": [-1 if isinstance(node[4], Unknown) else node[4] for node in nodes],
        "kind": [node[5] for node in nodes],
    }
    return {
        "events": fact.events,
        "dropped": fact.dropped,
        "wall": fact.wall_ns,
        "left_out": fact.calls_left_out,
        "nodes_left_out": _nodes_of(fact.calls) - len(nodes),
        "copies_left_out": len(largest) - len(copies),
        "tree": tree,
        "copies": [_copy(copy, numbers) for copy in copies],
        "names": numbers.names,
        "sites": numbers.sites,
    }


_Node = tuple[int, str, Site, int, int | Unknown, str]


def _nodes(calls: tuple[Call, ...], depth: int = 0) -> Iterator[_Node]:
    """Calls and nested calls, in preorder: depth, name, line, number of calls, ns, language."""
    for call in calls:
        label = call.site.text if depth == 0 and call.site.text else call.name
        yield depth, label, call.site, call.times, call.ns, "Py" if depth == 0 else "C"
        yield from _nodes(call.calls, depth + 1)
        for one in call.conversions:
            yield depth + 1, one.function, call.site, one.times, one.ns, "C"


def _nodes_of(calls: tuple[Call, ...]) -> int:
    return sum(1 + len(call.conversions) + _nodes_of(call.calls) for call in calls)


class _Numbers:
    """Texts and lines, each sent once."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.sites: list[dict[str, Any]] = []
        self._name: dict[str, int] = {}
        self._site: dict[Site, int] = {}

    def name(self, text: str) -> int:
        if text not in self._name:
            self._name[text] = len(self.names)
            self.names.append(said(text))
        return self._name[text]

    def site(self, site: Site) -> int:
        if site not in self._site:
            self._site[site] = len(self.sites)
            self.sites.append(_place(site))
        return self._site[site]


def _place(site: Site) -> dict[str, Any]:
    file = "" if isinstance(site.file, Unknown) else site.file.rpartition("/")[2]
    line = 0 if isinstance(site.line, Unknown) else site.line
    where = file if isinstance(site.cell, Unknown) else str(site.cell)
    return {"text": said(f"{where}:{line}", 40) if line else "", "cell": amount(site.cell), "line": line}


def _copy(copy: Copy, numbers: _Numbers) -> dict[str, Any]:
    return {
        "verdict": copy.verdict,
        "bytes": amount(copy.copied_bytes or copy.span_bytes),
        "times": copy.times,
        "site": numbers.site(copy.site),
        "text": said(copy.site.text or copy.function, 60),
        "from": said(copy.source, 60),
        "result": said(copy.result, 60),
        "reason": said(copy.reason, 200),
        "avoid": said(copy.avoid, 200),
        "sure": copy.confidence,
    }
