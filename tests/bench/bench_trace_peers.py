"""A call from Python into native code, recorded by us and by what CPython offers itself."""

from __future__ import annotations

import math
import sys
from typing import Any

from bench import row
from bench_trace import seconds

from inspector import _native

CALLS, ROUNDS = 50_000, 15


def loop() -> None:
    """One native call a turn."""
    gcd = math.gcd
    for _ in range(CALLS):
        gcd(12, 18)


def ours() -> float:
    """With arguments, result and line recorded."""
    _native.methods_arm([math.gcd])
    _native.ring_begin("", 1 << 16, "last", 1, 0, 64 << 20, -1)
    _native.calls_open(True)
    try:
        return seconds(loop)
    finally:
        _native.calls_open(False)
        _native.calls_disarm()
        _native.ring_end()
        _native.interned_clear()


def profiled() -> float:
    """sys.setprofile with a callback that does nothing: it keeps nothing."""

    def nothing(frame: object, event: str, argument: object) -> None:
        pass

    sys.setprofile(nothing)
    try:
        return seconds(loop)
    finally:
        sys.setprofile(None)


def monitored() -> float:
    """sys.monitoring (3.12 and later) with CALL and C_RETURN, callbacks that do nothing."""
    monitoring: Any = vars(sys)["monitoring"]
    events = monitoring.events.CALL | monitoring.events.C_RETURN
    monitoring.use_tool_id(4, "bench")
    for event in (monitoring.events.CALL, monitoring.events.C_RETURN):
        monitoring.register_callback(4, event, lambda *words: None)
    monitoring.set_events(4, events)
    try:
        return seconds(loop)
    finally:
        monitoring.set_events(4, 0)
        monitoring.free_tool_id(4)


def main() -> None:
    """All of them interleaved; what a call costs more than without."""
    ways = {"ours": ours, "sys.setprofile": profiled}
    if hasattr(sys, "monitoring"):
        ways["sys.monitoring"] = monitored
    least = {name: min(float("inf"), way()) for name, way in ways.items()}
    base = seconds(loop)
    for _ in range(ROUNDS):
        base = min(base, seconds(loop))
        for name, way in ways.items():
            least[name] = min(least[name], way())
    own = (least["ours"] - base) / CALLS
    for name in list(ways)[1:]:
        theirs = (least[name] - base) / CALLS
        bar = 0.25 if name == "sys.setprofile" else None
        row(
            "a native call recorded, more",
            own,
            against=name,
            theirs=theirs,
            bar=bar,
            sizes="math.gcd(12, 18)",
        )


if __name__ == "__main__":
    main()
