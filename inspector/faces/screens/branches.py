"""Facts in their JSON form as a tree: children of a value, its line, search."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from typing import Any, Final

from inspector.views.plain import clipped

MOST_BRANCHES: Final = 500
"""Children of one node that are shown; the rest is counted."""
MOST_SEARCHED: Final = 200_000
"""Nodes that a search visits."""
LONGEST: Final = 100

Path = tuple[str, ...]


def under(value: Any) -> list[tuple[str, Any]]:
    """(name, value) of a value's children; [] for a leaf. Items of a list are named by number."""
    if isinstance(value, dict) and set(value) != {"unknown"}:
        return list(value.items())
    if isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        return [(str(at), one) for at, one in enumerate(value)]
    return []


def reads(name: str, value: Any) -> str:
    """A node as one line: its name and its value."""
    return f"{clipped(name, 40)}  {_said(value)}"


def _said(value: Any) -> str:
    if isinstance(value, dict):
        if set(value) == {"unknown"}:
            return clipped(f"? {value['unknown']}", LONGEST)
        known = next((value[key] for key in ("name", "holder", "function", "type_name") if key in value), "")
        return clipped(str(known), LONGEST) if isinstance(known, str) else ""
    if isinstance(value, list):
        return f"{len(value):,}" if under(value) else clipped(", ".join(map(str, value)), LONGEST)
    return clipped(f"{value:,}" if type(value) is int else str(value), LONGEST)


def found(root: Any, words: str) -> Iterator[Path]:
    """Paths of the nodes whose line contains `words`, in order, among the first MOST_SEARCHED nodes."""
    wanted, left = words.lower(), MOST_SEARCHED
    waiting: list[tuple[Path, Any]] = [((), root)]
    while waiting and left:
        path, value = waiting.pop()
        left -= 1
        if path and wanted in reads(path[-1], value).lower():
            yield path
        inside = under(value)[:MOST_BRANCHES]
        waiting.extend(((*path, name), one) for name, one in reversed(inside))


def table(value: Any) -> tuple[list[str], list[list[str]]]:
    """Headings and rows of a list of like records; empty for anything else."""
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        return [], []
    heads = list(value[0])
    return heads, [[_said(one.get(head, "")) for head in heads] for one in value[:MOST_BRANCHES]]
