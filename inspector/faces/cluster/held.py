"""The values that a worker holds, by kind of task, and its actors."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Iterable
from typing import Any

from inspector.facts.cluster import Kind
from inspector.facts.namespace import Row
from inspector.facts.unknown import Unknown


def in_memory(worker: Any) -> dict[Any, Any]:
    """Dask's own dict of the values in memory; reads no spilled value and changes no order (borrowed)."""
    found = getattr(getattr(worker.data, "fast", None), "d", worker.data)
    return found if type(found) is dict else {}


def actors(worker: Any) -> dict[Any, Any]:
    """Key -> actor object; Dask keeps actors apart from the values."""
    found = worker.state.actors
    return found if type(found) is dict else {}


def kinds_of(rows: Iterable[Row], worker: str) -> list[Kind]:
    """The keys of a worker by the prefix that Dask itself groups them by."""
    from dask.utils import key_split

    by_kind: dict[str, list[Row]] = {}
    for row in rows:
        by_kind.setdefault(key_split(row.name), []).append(row)
    return [_kind(task, found, worker) for task, found in by_kind.items()]


def _kind(task: str, rows: list[Row], worker: str) -> Kind:
    known = [row.bytes for row in rows if not isinstance(row.bytes, Unknown)]
    [(most, _)] = Counter(row.type_name for row in rows).most_common(1)
    return Kind(task, most, len(rows), sum(known), len(rows) - len(known), (worker,))
