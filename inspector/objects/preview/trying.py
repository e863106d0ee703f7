"""The real conversion, in the forked child: what it shares, copies, loses, materializes; plain values."""

# SPDX-License-Identifier: MIT
import importlib
import signal
from collections.abc import Callable
from typing import Any, Final

from inspector.adapters.registry import adapter_of
from inspector.objects.layers.stack import stack
from inspector.objects.preview.consumers import Consumer, function
from inspector.objects.preview.values import elements, lost

DEADLINE_S: Final = 2.0
"""For the conversion alone; importing and hooking before may take longer."""
PART_BYTES: Final = 64 << 20
"""Of a larger object only the beginning is tried."""

Outcome = dict[str, Any]
Traces = Callable[[Callable[[], Any]], list[tuple[str, str, int]]]
"""Runs a call traced: (reason, avoid, bytes) of each copy, the largest first."""


def tried(x: Any, consumer: Consumer, is_table: bool, state: Callable[[Any], str], traces: Traces) -> Outcome:
    """What the conversion does to `x`. `state` returns its state of materialization in words."""
    importlib.import_module(consumer.module)
    before, given = state(x), _blocks(x)
    made: list[Any] = []
    call = function(consumer, is_table)
    try:
        copies = traces(lambda: made.append(bounded(lambda: call(x))))
    except Exception as error:
        return {"fails": f"{type(error).__name__}: {error}"[:200]}
    after = state(x)
    return {
        "materializes": after if after != before else "",
        "lost": lost(elements(x), elements(made[0])),
        "why": copies[0][:2] if copies else ("", ""),
        **_copied([*given, *_blocks(x)], _blocks(made[0]), made[0] is x),
    }


def bounded(call: Callable[[], Any]) -> Any:
    """The result of the call; SIGALRM kills the child after DEADLINE_S."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, DEADLINE_S)
    try:
        return call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _copied(given: list[tuple[int, int, int]], made: list[tuple[int, int, int]], same: bool) -> Outcome:
    """Bytes of the result outside the object's blocks."""
    if same:
        return {"copied": 0}
    if not made:
        return {"unknown": "no adapter tells where the result's bytes are"}
    return {"copied": sum(size for start, stop, size in made if not _meets(start, stop, given))}


def _meets(start: int, stop: int, given: list[tuple[int, int, int]]) -> bool:
    return start == stop or any(low < stop and start < high for low, high, _ in given)


def _blocks(x: Any) -> list[tuple[int, int, int]]:
    """(start, stop, bytes of the elements) of each block."""
    adapter = adapter_of(type(x))
    if adapter is None:
        return []
    found: list[tuple[int, int, int]] = [
        (b.range.start, b.range.stop, b.size * b.itemsize_bytes) for b in adapter.elements(x)
    ]
    spans = [(span.start, span.stop, span.bytes) for span in stack(x, adapter).spans]
    return [*(found or spans)]


def part_of(x: Any, bytes_: int) -> tuple[Any, float]:
    """(the beginning of a large object, of the same type and layout; how much larger the object is)."""
    if bytes_ <= PART_BYTES or not hasattr(type(x), "__getitem__"):
        return x, 1.0
    rows = len(x)
    kept = max(1, rows * PART_BYTES // bytes_)
    return (x.iloc[:kept] if hasattr(type(x), "iloc") else x[:kept]), rows / kept
