"""Watch compiled pytensor functions, node by node, while a trace runs.

`Function.__call__` is replaced on its class, and put back when the last trace ends. A linker that keeps one
thunk a node in a list (vm, c|py, py) has each thunk wrapped for the length of a call. The C loop (cvm) keeps
its own copy of that list: for a traced call the same thunks are run here, in the same order. Where all nodes
are one compiled function (numba, jax, c), only the door is watched, and rows say what the graph declares.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from inspector.facts.conversion import Loss
from inspector.facts.nodes import Door, GraphCall, NodeRun, Nodes

if TYPE_CHECKING:
    from inspector.tracing.arm.graph_door import Doors
    from inspector.tracing.arm.graph_nodes import Watched

MODULES: Final = ("pytensor.compile.executor", "pytensor.compile.function.types")
MOST_CALLS: Final = 100
_lock = threading.Lock()
_listeners: list[GraphCalls] = []
_replaced: list[tuple[type, Any]] = []


def names_package(modules: Sequence[str], package: str) -> bool:
    """Whether a trace of these modules has a package: it is one of them, or none was named."""
    return not modules or any(name.partition(".")[0] == package for name in modules)


class GraphCalls:
    """The calls between `begin` and `end`."""

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted
        self.rows: dict[tuple[int, str, int], GraphCall] = {}
        self.left_out = 0
        self._lost: dict[Loss, int] = {}

    def begin(self) -> None:
        """Begin to watch, if that is wanted and pytensor is imported."""
        self.rows, self.left_out, self._lost = {}, 0, {}
        if not self.wanted:
            return
        with _lock:
            if not _listeners:
                _replaced.extend(_replace(kind) for kind in _kinds())
            _listeners.append(self)

    def end(self) -> None:
        """Stop watching; a second call does nothing."""
        with _lock:
            if self in _listeners:
                _listeners.remove(self)
            while _replaced and not _listeners:
                kind, before = _replaced.pop()
                type.__setattr__(kind, "__call__", before)

    def fact(self) -> Nodes | None:
        """The calls; None if there were none."""
        return Nodes(tuple(self.rows.values()), self.left_out) if self.rows else None

    def losses(self) -> tuple[Loss, ...]:
        """What values of the calls lost, at the lines that called; of the same loss how often."""
        return tuple(replace(one, times=times) for one, times in self._lost.items())

    def lose(self, found: Sequence[Loss]) -> None:
        """Losses of one call; of more than MOST_CALLS different ones those."""
        for one in found:
            if one in self._lost or len(self._lost) < MOST_CALLS:
                self._lost[one] = self._lost.get(one, 0) + 1

    def add(self, key: tuple[int, str, int], made: GraphCall) -> None:
        """One more call: of the same function in the same line, the times add up."""
        before = self.rows.get(key)
        if before is None and len(self.rows) >= MOST_CALLS:
            self.left_out += 1
            return
        self.rows[key] = made if before is None else _together(before, made)


def _together(before: GraphCall, made: GraphCall) -> GraphCall:
    pairs = zip(before.nodes, made.nodes, strict=True)
    nodes = tuple(
        replace(now, ns=then.ns + now.ns, breaches=tuple(dict.fromkeys((*then.breaches, *now.breaches))))
        if isinstance(now.ns, int) and isinstance(then.ns, int)
        else now
        for then, now in pairs
    )
    return replace(made, calls=before.calls + 1, ns=before.ns + made.ns, nodes=nodes)


def _kinds() -> Iterator[type]:
    """The classes of compiled functions that are imported."""
    found = (vars(module).get("Function") for name in MODULES if (module := sys.modules.get(name)))
    seen = dict.fromkeys(kind for kind in found if isinstance(kind, type))
    return (kind for kind in seen if isinstance(vars(kind).get("__call__"), FunctionType))


def _replace(kind: type) -> tuple[type, Any]:
    before = vars(kind)["__call__"]

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _called(before, self, args, kwargs)

    __call__.__wrapped__ = before  # type: ignore[attr-defined]
    type.__setattr__(kind, "__call__", __call__)
    return kind, before


def _called(before: Callable[..., Any], f: Any, args: Any, kwargs: Any) -> Any:
    """Call, and tell what was seen; a call of a function that is being watched is not watched again."""
    from inspector.tracing.arm.graph_door import Doors  # needs the extension; a saved trace is drawn without
    from inspector.tracing.arm.graph_losses import told
    from inspector.tracing.arm.graph_nodes import Watched

    frame = sys._getframe(2)
    if not _listeners or getattr(_busy, "function", None) is not None:
        return before(f, *args, **kwargs)
    try:
        watched, doors = Watched(f), Doors(f, args, kwargs)
    except Exception:  # an unknown form of function runs as if there were no trace
        return before(f, *args, **kwargs)
    _busy.function = f
    start = time.perf_counter_ns()
    try:
        with watched:
            result = before(f, *args, **kwargs)
        spent = time.perf_counter_ns() - start - watched.aside_ns
        made = GraphCall(
            getattr(f, "name", None) or "a compiled function", frame.f_code.co_filename, frame.f_lineno,
            watched.linker, 1, spent, _rows(watched), _doors(doors, watched, result), watched.unwatched,
        )  # fmt: skip
        lost = tuple(told((*doors.lost(watched), *watched.lost), made.file, made.line))
        for listener in list(_listeners):
            listener.add((id(f), made.file, made.line), made)
            listener.lose(lost)
        return result
    finally:
        _busy.function = None


def _rows(watched: Watched) -> tuple[NodeRun, ...]:
    from inspector.tracing.arm.graph_nodes import declared

    return tuple(watched.runs) if watched.runs else tuple(declared(watched))


def _doors(doors: Doors, watched: Watched, result: Any) -> tuple[Door, ...]:
    return tuple(doors.after(result, watched))


_busy = threading.local()
